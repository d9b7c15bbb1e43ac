// Memory for large arrays, which goes back to the system as soon as it is freed. That of the C library stays
// with the process, in pieces that are too small for what is needed next: the sorters of 256 parts left more
// than half of it behind.
#pragma once

#include <cstddef>

namespace hiero {

// Returns `size` bytes that begin with the contents of `data`, which has `old_size` bytes, no more than that,
// and is freed. It may be nullptr. Other bytes have any value. Throws std::bad_alloc, and leaves the old
// memory as it was.
void* grow_memory(void* data, std::size_t old_size, std::size_t size);
// Frees memory of this size, or nullptr.
void free_memory(void* data, std::size_t size);
// Gives back what the C library keeps of freed memory, where it can.
void return_freed_memory();

}  // namespace hiero
