// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {IMarketEvents} from "../interfaces/IMarketEvents.sol";

/// @title The public values of proofs, and the keys that are taken.
library PublicValues {
    /// @dev A public value's bytes, fewer than a word's: values stay below the groups' order.
    uint256 internal constant VALUE_BYTES = 31;
    /// @dev Where a key comes from: its first word. Known secrets: for tests.
    uint256 private constant KNOWN_SECRETS = 1;
    uint256 private constant CEREMONY = 2;
    uint256 private constant LOCAL_CHAIN = 31_337;

    /// @notice Requires a key to be the expected one, and its secrets to be unknown by the key's own mark.
    /// @param expected The hash over the key's words.
    /// @param key The key's words.
    function requireKey(bytes32 expected, uint256[] calldata key) internal view {
        bytes32 given = keccak256(abi.encodePacked(key));
        require(given == expected, IMarketEvents.WrongKey(expected, given));
        // SAFETY: anybody who knows a key's secrets can prove anything. Unknown origins are refused too.
        require(
            key[0] == CEREMONY || (key[0] == KNOWN_SECRETS && block.chainid == LOCAL_CHAIN),
            IMarketEvents.KnownSecrets(block.chainid)
        );
    }

    /// @notice How many values hold a tensor.
    /// @param length The tensor's bytes, whole elements.
    /// @param size An element's bytes, 1 to `VALUE_BYTES`.
    function count(uint256 length, uint256 size) internal pure returns (uint256) {
        uint256 group = _group(size);
        return (length + group - 1) / group;
    }

    /// @notice Packs a tensor: whole elements fill a value up to 31 bytes, the first element lowest.
    /// @param values All values.
    /// @param next Where the tensor's values begin.
    /// @param data The tensor's bytes.
    /// @param size An element's bytes, 1 to `VALUE_BYTES`.
    /// @return end Where the tensor's values end.
    function pack(
        uint256[] memory values,
        uint256 next,
        bytes calldata data,
        uint256 size
    ) internal pure returns (uint256 end) {
        uint256 group = _group(size);
        end = next;
        for (uint256 start = 0; start < data.length; start += group) {
            uint256 length = data.length - start < group ? data.length - start : group;
            values[end++] = _littleEndian(data[start:start + length]);
        }
    }

    /// @dev Bytes of the whole elements in a value.
    function _group(uint256 size) private pure returns (uint256) {
        return VALUE_BYTES - (VALUE_BYTES % size);
    }

    /// @dev Reads up to 31 bytes, the first byte lowest.
    function _littleEndian(bytes calldata data) private pure returns (uint256 value) {
        value = uint256(bytes32(data));
        value = ((value >> 8) & _every(8)) | ((value & _every(8)) << 8);
        value = ((value >> 16) & _every(16)) | ((value & _every(16)) << 16);
        value = ((value >> 32) & _every(32)) | ((value & _every(32)) << 32);
        value = ((value >> 64) & _every(64)) | ((value & _every(64)) << 64);
        value = (value >> 128) | (value << 128);
    }

    /// @dev A mask for every second group, from the lowest group on.
    function _every(uint256 bits) private pure returns (uint256) {
        return type(uint256).max / ((1 << bits) + 1);
    }
}
