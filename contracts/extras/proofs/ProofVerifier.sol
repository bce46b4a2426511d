// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {Groth16} from "../../program/Groth16.sol";
import {PublicValues} from "../../program/PublicValues.sol";

/// @title A tensor of a proof.
struct ProvenTensor {
    /// Little-endian, row-major.
    bytes data;
    /// By the program's header. A size from the prover would prove nothing.
    uint8 elementBytes;
}

/// @title Verifies proofs that a program has given outputs for given inputs.
/// @dev No claim becomes final here. A relying contract pins a key's hash, and the number, length and element size of
/// the tensors. No contract can know whether a key belongs to a program, or who knows the secrets behind the key.
/// SAFETY: the proof binds values, not lengths: with other lengths, bytes of one tensor pass as those of the next.
contract ProofVerifier {
    error WrongSize(uint256 tensor, uint256 elementBytes, uint256 dataBytes);

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
        PublicValues.requireKey(keyHash, key);
        require(Groth16.holds(key, proof, publicValues(context, tensors)), IMarketEvents.NotProven());
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
            require(size != 0 && size <= PublicValues.VALUE_BYTES && length % size == 0, WrongSize(t, size, length));
            count += PublicValues.count(length, size);
        }
        values = new uint256[](count);
        values[0] = context;
        uint256 next = 1;
        for (uint256 t = 0; t < tensors.length; ++t) {
            next = PublicValues.pack(values, next, tensors[t].data, tensors[t].elementBytes);
        }
    }
}
