// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GameState, Move, PackedState} from "../types/GameState.sol";
import {GameId} from "../types/Ids.sol";

/// @title Converts a game's state between nine words and fields, and computes its hash and id.
/// @dev From the lowest bit up: place = index 32, width 32, depth 8, level 8, turn 8, first 32, last 32, step 32,
/// tailBytes 16, number 32, move 8; party = challenger 160, bond 96; clock = workerSeconds 32, challengerSeconds 32,
/// since 40, spent 96, item 16, checkpoints 32.
library States {
    /// @dev Positions of the fields of a `GameState` in memory, bytes from the struct's address. The first six words
    /// match a `PackedState`.
    uint256 private constant CHALLENGER = 0xc0;
    uint256 private constant BOND = 0xe0;
    uint256 private constant SPENT = 0x100;
    uint256 private constant SINCE = 0x120;
    uint256 private constant WORKER_SECONDS = 0x140;
    uint256 private constant CHALLENGER_SECONDS = 0x160;
    uint256 private constant CHECKPOINTS = 0x180;
    uint256 private constant DEPTH = 0x1a0;
    uint256 private constant LEVEL = 0x1c0;
    uint256 private constant TURN = 0x1e0;
    uint256 private constant MOVE = 0x200;
    uint256 private constant TAIL_BYTES = 0x220;
    uint256 private constant NUMBER = 0x240;
    uint256 private constant INDEX = 0x260;
    uint256 private constant WIDTH = 0x280;
    uint256 private constant FIRST = 0x2a0;
    uint256 private constant LAST = 0x2c0;
    uint256 private constant STEP = 0x2e0;
    uint256 private constant ITEM = 0x300;
    /// @dev Bytes of those six words.
    uint256 private constant HASHES_BYTES = 0xc0;
    /// @dev Where the other words of a `PackedState` lie, and the bytes of all nine.
    uint256 private constant PLACE = 0xc0;
    uint256 private constant PARTY = 0xe0;
    uint256 private constant CLOCK = 0x100;
    uint256 private constant PACKED_BYTES = 0x120;

    /// @notice Returns the fields of a packed state.
    /// @dev Writes the fields into the struct in declaration order. INVARIANT: every valid state was packed here, so
    /// enums are in range. The hash check refuses any other state.
    function unpack(PackedState calldata p) internal pure returns (GameState memory s) {
        assembly ("memory-safe") {
            // claimId, programRoot, node, runRoot, traceRoot, interiorRoot
            calldatacopy(s, p, HASHES_BYTES)
            let word := calldataload(add(p, PLACE))
            mstore(add(s, INDEX), and(word, 0xffffffff))
            mstore(add(s, WIDTH), and(shr(32, word), 0xffffffff))
            mstore(add(s, DEPTH), and(shr(64, word), 0xff))
            mstore(add(s, LEVEL), and(shr(72, word), 0xff))
            mstore(add(s, TURN), and(shr(80, word), 0xff))
            mstore(add(s, FIRST), and(shr(88, word), 0xffffffff))
            mstore(add(s, LAST), and(shr(120, word), 0xffffffff))
            mstore(add(s, STEP), and(shr(152, word), 0xffffffff))
            mstore(add(s, TAIL_BYTES), and(shr(184, word), 0xffff))
            mstore(add(s, NUMBER), and(shr(200, word), 0xffffffff))
            mstore(add(s, MOVE), and(shr(232, word), 0xff))
            word := calldataload(add(p, PARTY))
            mstore(add(s, CHALLENGER), and(word, 0xffffffffffffffffffffffffffffffffffffffff))
            mstore(add(s, BOND), shr(160, word))
            word := calldataload(add(p, CLOCK))
            mstore(add(s, WORKER_SECONDS), and(word, 0xffffffff))
            mstore(add(s, CHALLENGER_SECONDS), and(shr(32, word), 0xffffffff))
            mstore(add(s, SINCE), and(shr(64, word), 0xffffffffff))
            mstore(add(s, SPENT), and(shr(104, word), 0xffffffffffffffffffffffff))
            mstore(add(s, ITEM), and(shr(200, word), 0xffff))
            mstore(add(s, CHECKPOINTS), and(shr(216, word), 0xffffffff))
        }
    }

    /// @notice Returns the nine words of a state after a move.
    function pack(GameState memory s, Move move) internal pure returns (PackedState memory p) {
        s.move = move;
        // SAFETY: a field in memory has no bits beyond its type's.
        assembly ("memory-safe") {
            // claimId, programRoot, node, runRoot, traceRoot, interiorRoot
            mcopy(p, s, HASHES_BYTES)
            let word := or(mload(add(s, INDEX)), shl(32, mload(add(s, WIDTH))))
            word := or(word, or(shl(64, mload(add(s, DEPTH))), shl(72, mload(add(s, LEVEL)))))
            word := or(word, or(shl(80, mload(add(s, TURN))), shl(88, mload(add(s, FIRST)))))
            word := or(word, or(shl(120, mload(add(s, LAST))), shl(152, mload(add(s, STEP)))))
            word := or(word, or(shl(184, mload(add(s, TAIL_BYTES))), shl(200, mload(add(s, NUMBER)))))
            word := or(word, shl(232, mload(add(s, MOVE))))
            mstore(add(p, PLACE), word)
            mstore(add(p, PARTY), or(mload(add(s, CHALLENGER)), shl(160, mload(add(s, BOND)))))
            word := or(mload(add(s, WORKER_SECONDS)), shl(32, mload(add(s, CHALLENGER_SECONDS))))
            word := or(word, or(shl(64, mload(add(s, SINCE))), shl(104, mload(add(s, SPENT)))))
            mstore(add(p, CLOCK), or(word, or(shl(200, mload(add(s, ITEM))), shl(216, mload(add(s, CHECKPOINTS))))))
        }
    }

    /// @notice Returns the hash that identifies a state, over the nine words.
    function hash(PackedState memory p) internal pure returns (bytes32 result) {
        assembly ("memory-safe") {
            result := keccak256(p, PACKED_BYTES)
        }
    }

    /// @notice The id of a game: the claim, the challenger, and the number chosen by the challenger.
    function gameId(GameState memory s) internal pure returns (GameId) {
        return GameId.wrap(keccak256(abi.encode(s.claimId, s.challenger, s.number)));
    }
}
