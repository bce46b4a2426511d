// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GameState, Move, PackedState} from "../types/GameState.sol";

/// @title The state of a game between its seven words and its fields, and what names it.
/// @dev From the lowest bit up:
/// place = index 32, width 32, depth 8, level 8, turn 8, first 32, last 32, step 32, tailBytes 16, openIndex 32, openDepth 8, move 8;
/// party = challenger 160, bond 96; clock = workerSeconds 32, challengerSeconds 32, since 40, spent 96.
library States {
    /// @notice The fields of a packed state.
    /// @dev Each field to its place in the struct, in the order of its declaration. INVARIANT: a state that counts was packed here, so that enums are in
    /// range: every other one is refused by its hash.
    function unpack(PackedState calldata p) internal pure returns (GameState memory s) {
        assembly ("memory-safe") {
            // claimId, programRoot, node, interiorRoot
            calldatacopy(s, p, 0x80)
            let word := calldataload(add(p, 0x80))
            mstore(add(s, 0x220), and(word, 0xffffffff)) // index
            mstore(add(s, 0x240), and(shr(32, word), 0xffffffff)) // width
            mstore(add(s, 0x140), and(shr(64, word), 0xff)) // depth
            mstore(add(s, 0x160), and(shr(72, word), 0xff)) // level
            mstore(add(s, 0x180), and(shr(80, word), 0xff)) // turn
            mstore(add(s, 0x260), and(shr(88, word), 0xffffffff)) // first
            mstore(add(s, 0x280), and(shr(120, word), 0xffffffff)) // last
            mstore(add(s, 0x2a0), and(shr(152, word), 0xffffffff)) // step
            mstore(add(s, 0x1e0), and(shr(184, word), 0xffff)) // tailBytes
            mstore(add(s, 0x200), and(shr(200, word), 0xffffffff)) // openIndex
            mstore(add(s, 0x1c0), and(shr(232, word), 0xff)) // openDepth
            mstore(add(s, 0x1a0), and(shr(240, word), 0xff)) // move
            word := calldataload(add(p, 0xa0))
            mstore(add(s, 0x80), and(word, 0xffffffffffffffffffffffffffffffffffffffff)) // challenger
            mstore(add(s, 0xa0), shr(160, word)) // bond
            word := calldataload(add(p, 0xc0))
            mstore(add(s, 0x100), and(word, 0xffffffff)) // workerSeconds
            mstore(add(s, 0x120), and(shr(32, word), 0xffffffff)) // challengerSeconds
            mstore(add(s, 0xe0), and(shr(64, word), 0xffffffffff)) // since
            mstore(add(s, 0xc0), and(shr(104, word), 0xffffffffffffffffffffffff)) // spent
        }
    }

    /// @notice The seven words of a state that a move led to.
    function pack(GameState memory s, Move move) internal pure returns (PackedState memory p) {
        s.move = move;
        // SAFETY: a field in memory has no bits beyond its type's.
        assembly ("memory-safe") {
            // claimId, programRoot, node, interiorRoot
            mcopy(p, s, 0x80)
            let word := or(mload(add(s, 0x220)), shl(32, mload(add(s, 0x240)))) // index, width
            word := or(word, or(shl(64, mload(add(s, 0x140))), shl(72, mload(add(s, 0x160))))) // depth, level
            word := or(word, or(shl(80, mload(add(s, 0x180))), shl(88, mload(add(s, 0x260))))) // turn, first
            word := or(word, or(shl(120, mload(add(s, 0x280))), shl(152, mload(add(s, 0x2a0))))) // last, step
            word := or(word, or(shl(184, mload(add(s, 0x1e0))), shl(200, mload(add(s, 0x200))))) // tailBytes, openIndex
            word := or(word, or(shl(232, mload(add(s, 0x1c0))), shl(240, mload(add(s, 0x1a0))))) // openDepth, move
            mstore(add(p, 0x80), word)
            mstore(add(p, 0xa0), or(mload(add(s, 0x80)), shl(160, mload(add(s, 0xa0))))) // challenger, bond
            word := or(mload(add(s, 0x100)), shl(32, mload(add(s, 0x120)))) // workerSeconds, challengerSeconds
            mstore(add(p, 0xc0), or(word, or(shl(64, mload(add(s, 0xe0))), shl(104, mload(add(s, 0xc0)))))) // since, spent
        }
    }

    /// @notice The hash by which a state is named: of its seven words.
    function hash(PackedState memory p) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(p, 0xe0)
        }
    }

    /// @notice The id of a game: the claim, the challenger, and where in the trace it was opened.
    function gameId(GameState memory s) internal pure returns (bytes32) {
        return keccak256(abi.encode(s.claimId, s.challenger, s.openIndex, s.openDepth));
    }
}
