// Stands in for Boost's header of this name, of which KenLM uses boost::noncopyable alone.
#pragma once

#include <boost/noncopyable.hpp>
