#pragma once
// Rules that every answer must keep, whatever the database. The check uses nothing of the library
// except its header.

#include <overlaptune/overlaptune.h>

#include <sqlite3.h>

namespace overlaptune::fuzz {

/// Texts end, times are finite and positive or NaN where they may be, enumerations are known, and
/// the config is one of the problem's: it has the fields of its strategy and no others, its
/// transport carries the collective, its wave groups make up the tiles, its chunks the rows.
void require_sound(const ovt_problem& problem, const ovt_answer& answer);

/// An exact answer is a row of the file, as plain SQL reads it (all rows, without an index). A
/// value that was changed to another one that is allowed cannot be told from a right one: rows have
/// no checksums. So the answer is compared with the file of the input, not with the seed that the
/// input was made of. There is no check where SQLite itself fails on the damage.
void require_stored(sqlite3* database, const ovt_problem& problem, ovt_launch launch,
                    const ovt_answer& answer);

}  // namespace overlaptune::fuzz
