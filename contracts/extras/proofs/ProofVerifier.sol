// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {Groth16} from "../../program/Groth16.sol";
import {PublicValues} from "../../program/PublicValues.sol";
import {DType} from "../../verifier/DType.sol";

/// @title A tensor of a proof.
struct ProvenTensor {
    /// Little-endian, row-major.
    bytes data;
    /// The element type: ONNX's code.
    uint8 dtype;
}

/// @title Verifies proofs that a program has given outputs for given inputs.
/// @dev No claim becomes final here. A relying contract pins a key's hash. The key names the program, and the type and
/// length of each tensor. No contract can know whether the key's maker named the right ones, or who knows the secrets
/// behind the key.
contract ProofVerifier {
    using PublicValues for PublicValues.Packing;

    error UnknownType(uint256 tensor, uint256 dtype);
    error WrongSize(uint256 tensor, uint256 elementBytes, uint256 dataBytes);
    error WrongLayout(bytes32 expected, bytes32 given);

    /// @notice Requires a proof.
    /// @dev Reverts with `WrongKey`, `KnownSecrets`, `FlawedKey`, `UnknownType`, `WrongSize`, `WrongLayout` or
    /// `NotProven`.
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
        PublicValues.requireKey(keyHash, key);
        bytes32 given = layoutOf(tensors);
        // SAFETY: a proof binds values. With other lengths, bytes of one tensor would pass as bytes of the next.
        require(given == PublicValues.layoutOf(key), WrongLayout(PublicValues.layoutOf(key), given));
        bool holds = Groth16.holds(key, proof, publicValues(context, tensors));
        require(holds, IMarketEvents.NotProven(keyHash, context));
    }

    /// @notice The hash over the types and lengths of tensors.
    /// @dev Reverts with `UnknownType` or `WrongSize`.
    /// @param tensors The inputs, then the outputs, in the program's order.
    /// @return hash `keccak256(abi.encode(layout of the tensors before, dtype, elements))`; zero for no tensor.
    function layoutOf(ProvenTensor[] calldata tensors) public pure returns (bytes32 hash) {
        for (uint256 t = 0; t < tensors.length; ++t) {
            uint256 dtype = tensors[t].dtype;
            require(DType.isKnown(dtype) && dtype != DType.LIMB, UnknownType(t, dtype));
            uint256 size = 1 << DType.log2Bytes(dtype);
            uint256 length = tensors[t].data.length;
            require(length % size == 0, WrongSize(t, size, length));
            hash = keccak256(abi.encode(hash, dtype, length / size));
        }
    }

    /// @notice The public values of tensors.
    /// @dev Elements fill values up to 31 bytes, through all tensors, the first element lowest.
    /// @param context The first value.
    /// @param tensors The inputs, then the outputs, whose layout is known.
    /// @return All public values.
    function publicValues(uint256 context, ProvenTensor[] calldata tensors) public pure returns (uint256[] memory) {
        uint256 bytes_ = 0;
        for (uint256 t = 0; t < tensors.length; ++t) bytes_ += tensors[t].data.length;
        PublicValues.Packing memory packing = PublicValues.begin(context, bytes_);
        for (uint256 t = 0; t < tensors.length; ++t) {
            packing.pack(tensors[t].data, 1 << DType.log2Bytes(tensors[t].dtype));
        }
        return packing.end();
    }
}
