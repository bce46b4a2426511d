// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ProgramFacts, CheckpointOpening, StepOpening} from "../types/Program.sol";
// SHA256 is used in assembly, which solhint does not see.
// solhint-disable-next-line no-unused-import
import {PositionalMerkle, SHA256} from "../merkle/PositionalMerkle.sol";
import {ProgramHeader} from "./ProgramHeader.sol";

/// @title Facts about a program, proven against the program root. The header's counts determine the proof depth for
/// each position.
library ProgramProofs {
    using ProgramHeader for bytes;

    /// @dev Bytes in a program root's preimage besides the header: the zero byte and two roots.
    uint256 private constant PREIMAGE_BYTES = 65;
    /// @dev Preimages of leaves in the first two words of memory: the start and the length of each, in bytes.
    uint256 private constant CHECKPOINT_START = 23;
    uint256 private constant CHECKPOINT_BYTES = 9;
    uint256 private constant STEP_START = 22;
    uint256 private constant STEP_BYTES = 42;

    /// @notice Returns the program root of a header and its two lists.
    function root(ProgramFacts calldata facts) internal view returns (bytes32 programRoot) {
        facts.header.check();
        bytes calldata header = facts.header;
        (bytes32 stepsRoot, bytes32 checkpointsRoot) = (facts.stepsRoot, facts.checkpointsRoot);
        bool ok;
        assembly ("memory-safe") {
            // Free memory, which is not taken: a zero byte, the header, both roots.
            let preimage := mload(0x40)
            mstore8(preimage, 0)
            calldatacopy(add(preimage, 1), header.offset, header.length)
            let roots := add(add(preimage, 1), header.length)
            mstore(roots, stepsRoot)
            mstore(add(roots, 0x20), checkpointsRoot)
            ok := staticcall(gas(), SHA256, preimage, add(header.length, PREIMAGE_BYTES), 0x00, 0x20)
            programRoot := mload(0x00)
        }
        _requireHashed(ok);
    }

    /// @notice Returns whether `opening` is the program's checkpoint `index`.
    function hasCheckpoint(
        ProgramFacts calldata facts,
        uint256 index,
        CheckpointOpening calldata opening
    ) internal view returns (bool) {
        (uint256 first, uint256 step) = (opening.first, opening.step);
        bytes32 leaf;
        bool ok;
        assembly ("memory-safe") {
            // A zero byte and twice 32 bits: the lowest nine bytes of a word.
            mstore(0x00, or(shl(32, first), step))
            ok := staticcall(gas(), SHA256, CHECKPOINT_START, CHECKPOINT_BYTES, 0x00, 0x20)
            leaf := mload(0x00)
        }
        _requireHashed(ok);
        return
            PositionalMerkle.leafUnder(
                facts.checkpointsRoot,
                facts.header.checkpointCount(),
                leaf,
                index,
                opening.siblings
            );
    }

    /// @notice Returns whether `opening` is the program's step `index`.
    function hasStep(
        ProgramFacts calldata facts,
        uint256 index,
        StepOpening calldata opening
    ) internal view returns (bool) {
        (uint256 dtype, uint256 count, bytes32 bodyHash) = (opening.dtype, opening.count, opening.bodyHash);
        bytes32 leaf;
        bool ok;
        assembly ("memory-safe") {
            // A zero byte, 8 bits and 64 bits: the lowest ten bytes of a word; and the hash.
            mstore(0x00, or(shl(64, dtype), count))
            mstore(0x20, bodyHash)
            ok := staticcall(gas(), SHA256, STEP_START, STEP_BYTES, 0x00, 0x20)
            leaf := mload(0x00)
        }
        _requireHashed(ok);
        return PositionalMerkle.leafUnder(facts.stepsRoot, facts.header.stepCount(), leaf, index, opening.siblings);
    }

    function _requireHashed(bool ok) private pure {
        // SAFETY: a precompile without enough gas must not leave an input standing as the hash.
        require(ok, PositionalMerkle.HashFailed());
    }
}
