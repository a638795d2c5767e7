# Whether the ranks of mpirun and srun find each other by MPI. Without it they meet by address.

option(OVERLAPTUNE_MPI "Let the ranks of mpirun and srun meet by MPI" OFF)

if(NOT OVERLAPTUNE_MPI)
  target_sources(overlaptune_machine PRIVATE controller/launch/mpi_rendezvous_absent.cpp)
  return()
endif()

set(MPI_CXX_SKIP_MPICXX ON)  # the C++ bindings, which MPI has given up
find_package(MPI QUIET COMPONENTS CXX)
if(NOT MPI_CXX_FOUND)
  message(FATAL_ERROR "OVERLAPTUNE_MPI=ON: no MPI found. Install that of your launcher (Open MPI: "
    "apt-get install libopenmpi-dev openmpi-bin), set MPI_HOME, or do without it: "
    "-DOVERLAPTUNE_MPI=OFF")
endif()
set_target_properties(MPI::MPI_CXX PROPERTIES IMPORTED_GLOBAL ON)
target_sources(overlaptune_machine PRIVATE controller/launch/mpi_rendezvous.cpp)
target_link_libraries(overlaptune_machine PRIVATE MPI::MPI_CXX)
# Only what calls MPI is to need it: the program, and not its worker.
target_link_options(overlaptune_machine INTERFACE LINKER:--as-needed)
