// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ProgramFacts, CheckpointOpening, StepOpening} from "../types/Program.sol";
import {PositionalMerkle} from "../verifier/PositionalMerkle.sol";
import {ProgramHeader} from "./ProgramHeader.sol";

/// @title Facts of a program, proven against its root. A position is always proven at the depth that the header's counts give.
library ProgramProofs {
    using ProgramHeader for bytes;

    /// @notice The program root of a header and its two lists.
    function root(ProgramFacts calldata facts) internal pure returns (bytes32) {
        facts.header.check();
        return sha256(abi.encodePacked(bytes1(0), facts.header, facts.stepsRoot, facts.checkpointsRoot));
    }

    /// @notice Whether `opening` is checkpoint `index` of the program.
    function hasCheckpoint(
        ProgramFacts calldata facts,
        uint256 index,
        CheckpointOpening calldata opening
    ) internal view returns (bool) {
        bytes32 leaf = sha256(abi.encodePacked(bytes1(0), opening.first, opening.step));
        return
            PositionalMerkle.leafUnder(
                facts.checkpointsRoot,
                facts.header.checkpointCount(),
                leaf,
                index,
                opening.siblings
            );
    }

    /// @notice Whether `opening` is step `index` of the program.
    function hasStep(
        ProgramFacts calldata facts,
        uint256 index,
        StepOpening calldata opening
    ) internal view returns (bool) {
        bytes32 leaf = sha256(abi.encodePacked(bytes1(0), opening.dtype, opening.count, opening.bodyHash));
        return PositionalMerkle.leafUnder(facts.stepsRoot, facts.header.stepCount(), leaf, index, opening.siblings);
    }
}
