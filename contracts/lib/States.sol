// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {GameState, Level, Move, PackedState, Side} from "../types/GameState.sol";

/// @title The state of a game between its seven words and its fields, and what names it.
/// @dev From the lowest bit up:
/// place = index 32, width 32, depth 8, level 8, turn 8, first 32, last 32, step 32, tailBytes 16, openIndex 32, openDepth 8, move 8;
/// party = challenger 160, bond 96; clock = workerSeconds 32, challengerSeconds 32, since 40, spent 96.
library States {
    /// @notice The fields of a packed state.
    function unpack(PackedState calldata p) internal pure returns (GameState memory s) {
        s.claimId = p.claimId;
        s.programRoot = p.programRoot;
        s.node = p.node;
        s.interiorRoot = p.interiorRoot;
        uint256 word = p.place;
        s.index = uint32(word);
        s.width = uint32(word >> 32);
        s.depth = uint8(word >> 64);
        s.level = Level(uint8(word >> 72));
        s.turn = Side(uint8(word >> 80));
        s.first = uint32(word >> 88);
        s.last = uint32(word >> 120);
        s.step = uint32(word >> 152);
        s.tailBytes = uint16(word >> 184);
        s.openIndex = uint32(word >> 200);
        s.openDepth = uint8(word >> 232);
        s.move = Move(uint8(word >> 240));
        word = p.party;
        s.challenger = address(uint160(word));
        s.bond = uint96(word >> 160);
        word = p.clock;
        s.workerSeconds = uint32(word);
        s.challengerSeconds = uint32(word >> 32);
        s.since = uint40(word >> 64);
        s.spent = uint96(word >> 104);
    }

    /// @notice The seven words of a state.
    function pack(GameState memory s) internal pure returns (PackedState memory p) {
        p.claimId = s.claimId;
        p.programRoot = s.programRoot;
        p.node = s.node;
        p.interiorRoot = s.interiorRoot;
        uint256 word = uint256(s.index) | (uint256(s.width) << 32) | (uint256(s.depth) << 64);
        word |= (uint256(s.level) << 72) | (uint256(s.turn) << 80) | (uint256(s.first) << 88);
        word |= (uint256(s.last) << 120) | (uint256(s.step) << 152) | (uint256(s.tailBytes) << 184);
        word |= (uint256(s.openIndex) << 200) | (uint256(s.openDepth) << 232);
        p.place = word | (uint256(s.move) << 240);
        p.party = uint256(uint160(s.challenger)) | (uint256(s.bond) << 160);
        word = uint256(s.workerSeconds) | (uint256(s.challengerSeconds) << 32);
        p.clock = word | (uint256(s.since) << 64) | (uint256(s.spent) << 104);
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
