// Replaces Boost's header of this name: boost::mutex and boost::unique_lock are those of the standard library.
#pragma once

#include <mutex>

namespace boost {

using std::mutex;
using std::unique_lock;

}  // namespace boost
