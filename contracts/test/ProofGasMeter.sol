// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ChunkOpening, IStepVerifier} from "../interfaces/IStepVerifier.sol";

/// @title Calls a step verifier as a game does, with arguments from its own calldata, and returns the gas.
contract ProofGasMeter {
    IStepVerifier public immutable VERIFIER;

    constructor(IStepVerifier verifier) {
        VERIFIER = verifier;
    }

    /// @notice Returns the element, and the call's gas including the copying of arguments.
    function evaluate(
        bytes calldata body,
        uint256 element,
        bytes32[] calldata inputRoots,
        ChunkOpening[] calldata openings
    ) external view returns (uint256 word, uint256 gasUsed) {
        uint256 before = gasleft();
        word = VERIFIER.evaluate(body, element, inputRoots, openings);
        gasUsed = before - gasleft();
    }
}
