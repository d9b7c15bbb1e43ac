// Stands in for Boost's header of this name: boost::mutex and boost::unique_lock, used as std's are.
#pragma once

#include <mutex>

namespace boost {

using std::mutex;
using std::unique_lock;

}  // namespace boost
