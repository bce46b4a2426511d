// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IMarketEvents, ProofObstacle} from "../interfaces/IMarketEvents.sol";
import {Groth16} from "./Groth16.sol";

/// @title The public values of proofs, and the keys that are taken.
/// @dev Elements follow each other through all tensors. An element goes to the value before while that value has room
/// below 31 bytes; the first element lies lowest.
library PublicValues {
    /// @dev Values while they are filled. `last` is the value in work, `used` its bytes.
    struct Packing {
        uint256[] values;
        uint256 last;
        uint256 used;
    }

    /// @dev A public value's bytes, fewer than a word's: values stay below the groups' order.
    uint256 private constant VALUE_BYTES = 31;
    uint256 private constant MAX_ELEMENT_BYTES = 8;
    /// @dev The least bytes in a value that has no room for the next element.
    uint256 private constant FULL_BYTES = 24;
    /// @dev Masks for every second group of 1, 2, 4 or 8 bytes, from the lowest group on.
    uint256 private constant EVERY_BYTE = type(uint256).max / (2 ** 8 + 1);
    uint256 private constant EVERY_PAIR = type(uint256).max / (2 ** 16 + 1);
    uint256 private constant EVERY_FOUR = type(uint256).max / (2 ** 32 + 1);
    uint256 private constant EVERY_EIGHT = type(uint256).max / (2 ** 64 + 1);
    /// @dev A key's first words.
    uint256 private constant ORIGIN = 0;
    uint256 private constant PROGRAM = 2;
    uint256 private constant LAYOUT = 3;
    /// @dev Where a key comes from. Known secrets: for tests.
    uint256 private constant KNOWN_SECRETS = 1;
    uint256 private constant CEREMONY = 2;
    uint256 private constant LOCAL_CHAIN = 31_337;

    /// @notice Requires a key to be the expected one, its secrets to be unknown by the key's own mark, and the key to
    /// have none of the flaws by which anybody could prove anything.
    /// @dev SAFETY: with two of beta, gamma and delta equal up to the sign, or with a point at infinity, proofs of
    /// anything follow from the key's own points. Whoever knows a key's secrets needs no flaw, so this check finds
    /// mistakes of makers, and no fraud.
    /// @param expected The hash over the key's words.
    /// @param key The key's words.
    function requireKey(bytes32 expected, uint256[] calldata key) internal view {
        bytes32 given = _hash(key);
        require(given == expected, IMarketEvents.WrongKey(expected, given));
        // SAFETY: anybody who knows a key's secrets can prove anything. Unknown origins are refused too.
        uint256 origin = key.length == 0 ? 0 : key[ORIGIN];
        require(
            origin == CEREMONY || (origin == KNOWN_SECRETS && block.chainid == LOCAL_CHAIN),
            IMarketEvents.KnownSecrets(block.chainid)
        );
        // The constant's point and the context's are the least.
        require(key.length >= Groth16.POINTS + 4 && !_isFlawed(key), IMarketEvents.FlawedKey(expected));
    }

    /// @notice The program that a key names.
    function programOf(uint256[] calldata key) internal pure returns (bytes32) {
        return bytes32(key[PROGRAM]);
    }

    /// @notice The layout that a key names: `ProofVerifier.layoutOf` of the inputs and outputs.
    function layoutOf(uint256[] calldata key) internal pure returns (bytes32) {
        return bytes32(key[LAYOUT]);
    }

    /// @notice Begins the public values with the context.
    /// @param context The first value.
    /// @param bytes_ All tensors' bytes.
    function begin(uint256 context, uint256 bytes_) internal pure returns (Packing memory packing) {
        packing.values = new uint256[](bytes_ / FULL_BYTES + 2);
        packing.values[0] = context;
        packing.used = VALUE_BYTES;
    }

    /// @notice Adds a tensor.
    /// @param data The tensor's bytes, whole elements.
    /// @param size An element's bytes: 1, 2, 4 or 8. No circuit has wider elements: `NotProvable`.
    function pack(Packing memory packing, bytes calldata data, uint256 size) internal pure {
        require(size <= MAX_ELEMENT_BYTES, IMarketEvents.NotProvable(ProofObstacle.WideElements));
        (uint256 last, uint256 used) = (packing.last, packing.used);
        uint256[] memory values = packing.values;
        unchecked {
            // SAFETY: `used` and `room` are a value's bytes at most, and no call's data has 2^64 bytes.
            uint256 room = VALUE_BYTES - used;
            room -= room % size;
            for (uint256 start = 0; start < data.length;) {
                if (room == 0) (last, used, room) = (last + 1, 0, VALUE_BYTES - (VALUE_BYTES % size));
                uint256 length = data.length - start < room ? data.length - start : room;
                values[last] |= _littleEndian(data, start, length) << (8 * used);
                start += length;
                used += length;
                room -= length;
            }
        }
        (packing.last, packing.used) = (last, used);
    }

    /// @notice All values, after the last tensor.
    function end(Packing memory packing) internal pure returns (uint256[] memory values) {
        values = packing.values;
        uint256 count = packing.last + 1;
        assembly ("memory-safe") {
            mstore(values, count)
        }
    }

    /// @dev `keccak256(abi.encodePacked(key))`.
    function _hash(uint256[] calldata key) private pure returns (bytes32 hash) {
        assembly ("memory-safe") {
            // Free memory, which is not taken.
            let start := mload(0x40)
            let length := mul(32, key.length)
            calldatacopy(start, key.offset, length)
            hash := keccak256(start, length)
        }
    }

    /// @dev Whether a key has a flaw by which anybody could prove anything.
    function _isFlawed(uint256[] calldata key) private pure returns (bool) {
        bool isAlike =
            _isAlike(key, Groth16.GAMMA, Groth16.DELTA) ||
                _isAlike(key, Groth16.BETA, Groth16.GAMMA) ||
                _isAlike(key, Groth16.BETA, Groth16.DELTA);
        bool isNone =
            _isZero(key, Groth16.ALPHA) ||
                (_isZero(key, Groth16.BETA) && _isZero(key, Groth16.BETA + 2)) ||
                (_isZero(key, Groth16.GAMMA) && _isZero(key, Groth16.GAMMA + 2)) ||
                (_isZero(key, Groth16.DELTA) && _isZero(key, Groth16.DELTA + 2)) ||
                _isZero(key, Groth16.POINTS + 2);
        return isAlike || isNone;
    }

    /// @dev Whether two points over the extension have the same first coordinate: the same point, or the negated one.
    function _isAlike(uint256[] calldata key, uint256 p, uint256 q) private pure returns (bool) {
        return _word(key, p) == _word(key, q) && _word(key, p + 1) == _word(key, q + 1);
    }

    /// @dev Whether two words are zeros: at infinity, all words of a point are.
    function _isZero(uint256[] calldata key, uint256 first) private pure returns (bool) {
        return _word(key, first) | _word(key, first + 1) == 0;
    }

    /// @dev A word of a key.
    /// SAFETY: `requireKey` has compared the key's length with the last place that is read.
    function _word(uint256[] calldata key, uint256 place) private pure returns (uint256 word) {
        assembly ("memory-safe") {
            word := calldataload(add(key.offset, mul(32, place)))
        }
    }

    /// @dev Reads up to 31 bytes within `data`, the first byte lowest.
    function _littleEndian(bytes calldata data, uint256 start, uint256 length) private pure returns (uint256 value) {
        assembly ("memory-safe") {
            // The first bytes of a word, then zeros.
            let behind := sub(256, mul(8, length))
            value := shl(behind, shr(behind, calldataload(add(data.offset, start))))
        }
        value = ((value >> 8) & EVERY_BYTE) | ((value & EVERY_BYTE) << 8);
        value = ((value >> 16) & EVERY_PAIR) | ((value & EVERY_PAIR) << 16);
        value = ((value >> 32) & EVERY_FOUR) | ((value & EVERY_FOUR) << 32);
        value = ((value >> 64) & EVERY_EIGHT) | ((value & EVERY_EIGHT) << 64);
        value = (value >> 128) | (value << 128);
    }
}
