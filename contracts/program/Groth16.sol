// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Checks proofs of Groth16 over BN254 by Ethereum's precompiles (EIP-196, EIP-197).
/// @dev A key is words: origin, circuit, alpha (2 words), beta, gamma, delta (4 words each), then a point (2 words) for
/// the constant and for each public value. A proof is words: A (2), B (4), C (2). Points over the extension have the
/// imaginary part first. The precompiles refuse coordinates off the curve or outside the group.
library Groth16 {
    /// @dev The groups' order: public values lie below.
    uint256 internal constant ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
    /// @dev The coordinates' field order.
    uint256 private constant BASE_ORDER = 21888242871839275222246405745257275088696311157297823662689037894645226208583;
    uint256 private constant ALPHA = 2;
    uint256 private constant POINTS = 16;
    /// @dev The precompiles.
    uint256 private constant ADD = 6;
    uint256 private constant MULTIPLY = 7;
    uint256 private constant PAIRING = 8;
    uint256 private constant PAIRING_BYTES = 768;
    /// @dev Several times the precompiles' prices (EIP-1108): a refused point takes all gas.
    uint256 private constant ADD_GAS = 1_000;
    uint256 private constant MULTIPLY_GAS = 30_000;
    uint256 private constant PAIRING_GAS = 600_000;

    /// @notice Whether a proof holds. Values and points out of range give false.
    /// @param key The key's words.
    /// @param proof The proof's words.
    /// @param publics The public values.
    /// @return Whether the pairings' equation is true.
    function holds(
        uint256[] calldata key,
        uint256[8] calldata proof,
        uint256[] memory publics
    ) internal view returns (bool) {
        if (key.length != POINTS + 2 * (publics.length + 1)) return false;
        (bool isPoint, uint256 x, uint256 y) = _combine(key, publics);
        // SAFETY: an unreduced coordinate would underflow below.
        if (!isPoint || proof[1] >= BASE_ORDER) return false;
        uint256 negated = proof[1] == 0 ? 0 : BASE_ORDER - proof[1];
        uint256[24] memory pairs;
        (pairs[0], pairs[1]) = (proof[0], negated);
        for (uint256 k = 0; k < 4; ++k) pairs[2 + k] = proof[2 + k];
        for (uint256 k = 0; k < 6; ++k) pairs[6 + k] = key[ALPHA + k];
        (pairs[12], pairs[13]) = (x, y);
        for (uint256 k = 0; k < 4; ++k) pairs[14 + k] = key[8 + k];
        (pairs[18], pairs[19]) = (proof[6], proof[7]);
        for (uint256 k = 0; k < 4; ++k) pairs[20 + k] = key[12 + k];
        bool isDone;
        uint256 result;
        assembly ("memory-safe") {
            isDone := staticcall(PAIRING_GAS, PAIRING, pairs, PAIRING_BYTES, 0, 32)
            result := mload(0)
        }
        return isDone && result == 1;
    }

    /// @dev Sums the constant's point and each public value times the value's point.
    function _combine(
        uint256[] calldata key,
        uint256[] memory publics
    ) private view returns (bool isPoint, uint256 x, uint256 y) {
        uint256[5] memory slots;
        (slots[0], slots[1]) = (key[POINTS], key[POINTS + 1]);
        isPoint = true;
        for (uint256 k = 0; k < publics.length; ++k) {
            uint256 value = publics[k];
            // SAFETY: the group takes a value and the value plus the order for the same.
            if (value >= ORDER) return (false, 0, 0);
            (slots[2], slots[3]) = (key[POINTS + 2 + 2 * k], key[POINTS + 3 + 2 * k]);
            slots[4] = value;
            assembly ("memory-safe") {
                let term := add(slots, 64)
                isPoint := and(isPoint, staticcall(MULTIPLY_GAS, MULTIPLY, term, 96, term, 64))
                isPoint := and(isPoint, staticcall(ADD_GAS, ADD, slots, 128, slots, 64))
            }
            if (!isPoint) return (false, 0, 0);
        }
        return (isPoint, slots[0], slots[1]);
    }
}
