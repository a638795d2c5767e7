#pragma once
// Seals for the rows of a database that is older than seals.

#include "db/connection.hpp"

namespace overlaptune::db {

/// Seals each candidate and each winner that breaks no rule and, if it is a winner, is like the
/// candidate that it comes from. The others get no seal, so that they are known as damaged. Inside
/// a transaction of the caller.
void seal_rows(Connection& connection);

}  // namespace overlaptune::db
