// Replaces Boost's header of this name. KenLM uses only its boost::noncopyable.
#pragma once

#include <boost/noncopyable.hpp>
