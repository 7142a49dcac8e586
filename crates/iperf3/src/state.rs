//! The states of a test.

/// State that one end signals to the other by a single byte (src/iperf_api.h, iperf 3.1 to 3.22).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i8)]
pub enum State {
    /// Server: all streams are established.
    TestStart = 1,
    /// Server: data may flow.
    TestRunning = 2,
    /// Client: time or bytes are used up.
    TestEnd = 4,
    /// Server: send the parameters.
    ParamExchange = 9,
    /// Server: open the data streams.
    CreateStreams = 10,
    /// Server: ended by its operator.
    ServerTerminate = 11,
    /// Client: ended by its operator.
    ClientTerminate = 12,
    /// Server: send the results, then take mine.
    ExchangeResults = 13,
    /// Server: results are exchanged.
    DisplayResults = 14,
    /// Client: good-bye.
    Done = 16,
    /// Server: another test is running.
    AccessDenied = -1,
    /// Server: an error; its number follows.
    ServerError = -2,
}

impl State {
    const ALL: [Self; 12] = [
        Self::TestStart,
        Self::TestRunning,
        Self::TestEnd,
        Self::ParamExchange,
        Self::CreateStreams,
        Self::ServerTerminate,
        Self::ClientTerminate,
        Self::ExchangeResults,
        Self::DisplayResults,
        Self::Done,
        Self::AccessDenied,
        Self::ServerError,
    ];

    /// The state encoded by a byte.
    pub fn from_byte(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.byte() == byte)
    }

    /// Its name in iperf3 (src/iperf_api.h, iperf 3.21).
    pub fn name(self) -> &'static str {
        match self {
            Self::TestStart => "TEST_START",
            Self::TestRunning => "TEST_RUNNING",
            Self::TestEnd => "TEST_END",
            Self::ParamExchange => "PARAM_EXCHANGE",
            Self::CreateStreams => "CREATE_STREAMS",
            Self::ServerTerminate => "SERVER_TERMINATE",
            Self::ClientTerminate => "CLIENT_TERMINATE",
            Self::ExchangeResults => "EXCHANGE_RESULTS",
            Self::DisplayResults => "DISPLAY_RESULTS",
            Self::Done => "IPERF_DONE",
            Self::AccessDenied => "ACCESS_DENIED",
            Self::ServerError => "SERVER_ERROR",
        }
    }

    /// The byte that encodes the state.
    pub fn byte(self) -> u8 {
        (self as i8).cast_unsigned()
    }
}
