// Replaces Boost's header of this name: boost::scoped_array with ownership, get() and indexing.
#pragma once

#include <memory>

namespace boost {

template <class T>
using scoped_array = std::unique_ptr<T[]>;

}  // namespace boost
