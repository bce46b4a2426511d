// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ResultConsumer} from "../consumer/ResultConsumer.sol";
import {IJobMarket} from "../interfaces/IJobMarket.sol";
import {JobRequest} from "../interfaces/IMarketEvents.sol";
import {JobId} from "../types/Ids.sol";
import {ProgramFacts} from "../types/Program.sol";
import {Terms as JobTerms} from "../types/Terms.sol";

/// @title An example of a dapp: asks whether a picture shows an upright line of text, and stores the answer.
/// @dev The dapp pins the program compiled by the dapp itself: an answer of any other program would mean nothing. The
/// asker brings the fee, and gets the fee back if no answer arrives (`refund` of the base contract).
contract TextDirectionDapp is ResultConsumer {
    /// @param known Whether the answer has arrived.
    /// @param upright Whether the line of text reads upright, rather than upside down.
    /// @param confidencePpm Probability of `upright`, in parts per million, rounded down.
    struct Answer {
        bool known;
        bool upright;
        uint32 confidencePpm;
    }

    /// @param fee For the worker, taken from the caller.
    /// @param window Seconds in which a watcher may dispute, at least `minWindow`.
    /// @param claimSeconds Seconds that a worker has to compute.
    /// @param deadline Unix time by which a submission must be due.
    /// @param salt Tells apart questions that are otherwise equal.
    struct Terms {
        uint128 fee;
        uint32 window;
        uint32 claimSeconds;
        uint64 deadline;
        bytes32 salt;
    }

    error WrongProgram(bytes32 expected, bytes32 given);
    error WrongOutput(uint256 output, uint256 length);
    error NotAProbability(uint256 bits);

    event Answered(JobId indexed jobId, bool upright, uint32 confidencePpm);

    /// @dev Enough to decode eight bytes and to store one word.
    uint32 private constant CALLBACK_GAS = 100_000;
    /// @dev Two float32: the probabilities of 0 and of 180 degrees.
    uint32 private constant OUTPUT_BYTES = 8;

    bytes32 public immutable programRoot;

    mapping(JobId jobId => Answer) private _answers;

    /// @param market_ The market to ask.
    /// @param programRoot_ The program whose answers are taken.
    /// @param minWindow_ Shortest window of a question, seconds.
    constructor(IJobMarket market_, bytes32 programRoot_, uint32 minWindow_) ResultConsumer(market_, minWindow_) {
        programRoot = programRoot_;
    }

    /// @notice Asks about a picture. The caller must have approved the fee.
    /// @param program The pinned program's header and roots.
    /// @param picture The picture's pixels: 48 rows of 192 pixels, 3 bytes each.
    /// @param pictureRoot Tensor root of the pixels; the market checks this root.
    /// @param terms The question's price and time limits.
    /// @return jobId The job that computes the answer.
    function ask(
        ProgramFacts calldata program,
        bytes calldata picture,
        bytes32 pictureRoot,
        Terms calldata terms
    ) external returns (JobId jobId) {
        bytes32 root = sha256(abi.encodePacked(bytes1(0), program.header, program.stepsRoot, program.checkpointsRoot));
        require(root == programRoot, WrongProgram(programRoot, root));
        bytes32[] memory roots = new bytes32[](1);
        roots[0] = pictureRoot;
        bytes[] memory inputs = new bytes[](1);
        inputs[0] = picture;
        jobId = _ask(
            JobRequest({
                program: program,
                inputRoots: roots,
                inputs: inputs,
                items: 1,
                firstItem: 0,
                fee: terms.fee,
                window: terms.window,
                claimSeconds: terms.claimSeconds,
                deadline: terms.deadline,
                callbackGas: CALLBACK_GAS,
                maxOutputBytes: OUTPUT_BYTES,
                rootOnly: false,
                answer: false,
                salt: terms.salt,
                terms: new JobTerms[](0)
            })
        );
    }

    /// @notice Returns the answer to a question, if it has arrived.
    /// @param jobId The question's job.
    /// @return The answer; `known` is false without an answer.
    function answerOf(JobId jobId) external view returns (Answer memory) {
        return _answers[jobId];
    }

    /// @inheritdoc ResultConsumer
    function _onResult(JobId jobId, uint256 output, bytes calldata data) internal override {
        require(output == 0 && data.length == OUTPUT_BYTES, WrongOutput(output, data.length));
        uint32 upright = _partsPerMillion(data[0:4]);
        uint32 turned = _partsPerMillion(data[4:8]);
        bool isUpright = upright >= turned;
        uint32 confidence = isUpright ? upright : turned;
        _answers[jobId] = Answer(true, isUpright, confidence);
        emit Answered(jobId, isUpright, confidence);
    }

    /// @dev A little-endian float32 from 0 to 1, times a million, rounded down.
    function _partsPerMillion(bytes calldata word) private pure returns (uint32) {
        uint256 bits =
            uint8(word[0]) |
                (uint256(uint8(word[1])) << 8) |
                (uint256(uint8(word[2])) << 16) |
                (uint256(uint8(word[3])) << 24);
        // 0x3f800000 encodes 1. Larger bit patterns are negative, above 1, infinite or NaN.
        require(bits <= 0x3f800000, NotAProbability(bits));
        uint256 exponent = bits >> 23;
        // Below 2^-100 (and for zero and subnormals) the result is zero parts per million.
        if (exponent < 27) return 0;
        return uint32((((bits & 0x7fffff) | 0x800000) * 1_000_000) >> (150 - exponent));
    }
}
