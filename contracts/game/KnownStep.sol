// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ChunkOpening, IStepVerifier} from "../interfaces/IStepVerifier.sol";
import {SEMANTICS} from "../types/Semantics.sol";
import {TensorTree} from "../merkle/TensorTree.sol";

/// @title A step with a known result: exp(x) of one float32, at x = 1.
/// @dev If a game's verifier reverts or has no code, nobody can win the game, and every lie becomes final. Only a
/// verifier that computes the result correctly gets accepted. For the result, the verifier opens a chunk and calls its
/// elementary functions.
library KnownStep {
    error NoCode(address account);
    error WrongSemantics(address account, uint256 given, uint256 expected);
    error KnownStepFails(uint256 given, uint256 expected);

    /// @dev The step's body (docs/program.md, "Step body"): input 0 of the job is one float32; the epilogue reads this
    /// input and applies exp (0x50).
    bytes internal constant BODY =
        hex"01_0001000000000000000100000000" // one input
        hex"01_00000001_00" // one out digit of radix 1, no reduction digit
        hex"0000_00_00" // no reduction, constant or term read
        hex"01_00_0000000000000000_00" // one epilogue read: element 0 of input 0
        hex"00_0000" // no term
        hex"01_5001000000_01"; // one instruction, whose slot is the result
    /// @dev e, rounded once to float32.
    uint256 internal constant RESULT = 0x402df854;

    /// @notice Requires a contract that verifies with the known semantics.
    function requireEvaluated(IStepVerifier verifier) internal view {
        requireCode(address(verifier));
        requireSemantics(address(verifier), verifier.semantics());
        ChunkOpening[] memory openings = new ChunkOpening[](1);
        openings[0] = ChunkOpening(new uint256[](1), new bytes(TensorTree.CHUNK_BYTES), new bytes32[](0));
        // 1.0 is 0x3f800000, little-endian.
        (openings[0].chunks[2], openings[0].chunks[3]) = (0x80, 0x3f);
        bytes32[] memory roots = new bytes32[](1);
        roots[0] = sha256(openings[0].chunks);
        uint256 word = verifier.evaluate(BODY, 0, roots, openings);
        require(word == RESULT, KnownStepFails(word, RESULT));
    }

    /// @notice Requires a contract at an address.
    function requireCode(address account) internal view {
        require(account.code.length != 0, NoCode(account));
    }

    /// @notice Requires that a contract follows these semantics.
    function requireSemantics(address account, uint256 given) internal pure {
        require(given == SEMANTICS, WrongSemantics(account, given, SEMANTICS));
    }
}
