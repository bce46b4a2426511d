// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Groth16} from "./Groth16.sol";

/// @title A tensor of a proof.
struct ProvenTensor {
    /// Little-endian, row-major.
    bytes data;
    /// By the program's header. A size from the prover would prove nothing.
    uint8 elementBytes;
}

/// @title Verifies proofs that a program has given outputs for given inputs.
/// @dev No claim becomes final here. A relying contract pins a key's hash and the tensors' element sizes. No contract
/// can know whether a key belongs to a program, or who knows the secrets behind the key.
contract ProofVerifier {
    error WrongKey(bytes32 expected, bytes32 given);
    error KnownSecrets(uint256 chain);
    error WrongSize(uint256 tensor, uint256 elementBytes, uint256 dataBytes);
    error NotProven();

    /// @dev Known secrets: for tests.
    uint256 private constant KNOWN_SECRETS = 1;
    uint256 private constant CEREMONY = 2;
    uint256 private constant LOCAL_CHAIN = 31_337;
    /// @dev A public value's bytes, fewer than a word's: values stay below the order.
    uint256 private constant VALUE_BYTES = 31;

    /// @notice Requires a proof.
    /// @dev Reverts with `WrongKey`, `KnownSecrets`, `WrongSize` or `NotProven`.
    /// @param keyHash The pinned hash over the key's words.
    /// @param key The key's words.
    /// @param proof The proof's words.
    /// @param context The proof's first public value, for example a hash over the payee.
    /// @param tensors The inputs, then the outputs, in the program's order.
    function requireProof(
        bytes32 keyHash,
        uint256[] calldata key,
        uint256[8] calldata proof,
        uint256 context,
        ProvenTensor[] calldata tensors
    ) external view {
        bytes32 given = keccak256(abi.encodePacked(key));
        require(given == keyHash, WrongKey(keyHash, given));
        // SAFETY: anybody who knows a key's secrets can prove anything. Unknown origins are refused too.
        require(
            key[0] == CEREMONY || (key[0] == KNOWN_SECRETS && block.chainid == LOCAL_CHAIN),
            KnownSecrets(block.chainid)
        );
        require(Groth16.holds(key, proof, publicValues(context, tensors)), NotProven());
    }

    /// @notice The public values of tensors.
    /// @dev Whole elements fill a value up to 31 bytes, the first element lowest. Reverts with `WrongSize`.
    /// @param context The first value.
    /// @param tensors The inputs, then the outputs.
    /// @return values All public values.
    function publicValues(
        uint256 context,
        ProvenTensor[] calldata tensors
    ) public pure returns (uint256[] memory values) {
        uint256 count = 1;
        for (uint256 t = 0; t < tensors.length; ++t) {
            uint256 size = tensors[t].elementBytes;
            uint256 length = tensors[t].data.length;
            require(size != 0 && size <= VALUE_BYTES && length % size == 0, WrongSize(t, size, length));
            uint256 group = VALUE_BYTES - (VALUE_BYTES % size);
            count += (length + group - 1) / group;
        }
        values = new uint256[](count);
        values[0] = context;
        uint256 next = 1;
        for (uint256 t = 0; t < tensors.length; ++t) {
            bytes calldata data = tensors[t].data;
            uint256 size = tensors[t].elementBytes;
            uint256 group = VALUE_BYTES - (VALUE_BYTES % size);
            for (uint256 start = 0; start < data.length; start += group) {
                uint256 length = data.length - start < group ? data.length - start : group;
                values[next++] = _littleEndian(data[start:start + length]);
            }
        }
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
