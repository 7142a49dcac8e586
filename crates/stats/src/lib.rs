//! Order statistics, histograms and bootstrap intervals
