// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title Checks proofs of Groth16 over BN254 by Ethereum's precompiles (EIP-196, EIP-197).
/// @dev A key is words: origin, circuit, program, layout, alpha (2 words), beta, gamma, delta (4 words each), then a
/// point (2 words) for the constant and for each public value. A proof is words: A (2), B (4), C (2). Points over the
/// extension have the imaginary part first. The precompiles refuse coordinates off the curve or outside the group.
library Groth16 {
    /// @dev The groups' order: public values lie below.
    uint256 internal constant ORDER = 21888242871839275222246405745257275088548364400416034343698204186575808495617;
    /// @dev Where a key's words begin.
    uint256 internal constant ALPHA = 4;
    uint256 internal constant BETA = 6;
    uint256 internal constant GAMMA = 10;
    uint256 internal constant DELTA = 14;
    uint256 internal constant POINTS = 18;
    /// @dev The coordinates' field order.
    uint256 private constant BASE_ORDER = 21888242871839275222246405745257275088696311157297823662689037894645226208583;
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
    /// @param key The key's words, as `PublicValues.requireKey` takes them.
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
        bool isDone;
        uint256 result;
        assembly ("memory-safe") {
            // Four pairs of a point and a point over the extension: -A and B, alpha and beta, the sum and gamma, C and
            // delta. The memory behind the free pointer is free, and is not kept.
            let pairs := mload(0x40)
            mstore(pairs, calldataload(proof))
            mstore(add(pairs, 32), negated)
            calldatacopy(add(pairs, 64), add(proof, 64), 128)
            calldatacopy(add(pairs, 192), add(key.offset, mul(32, ALPHA)), 192)
            mstore(add(pairs, 384), x)
            mstore(add(pairs, 416), y)
            calldatacopy(add(pairs, 448), add(key.offset, mul(32, GAMMA)), 128)
            calldatacopy(add(pairs, 576), add(proof, 192), 64)
            calldatacopy(add(pairs, 640), add(key.offset, mul(32, DELTA)), 128)
            isDone := staticcall(PAIRING_GAS, PAIRING, pairs, PAIRING_BYTES, 0, 32)
            // A chain without this precompile answers nothing, and leaves the memory.
            isDone := and(isDone, eq(returndatasize(), 32))
            result := mload(0)
        }
        return isDone && result == 1;
    }

    /// @dev Sums the constant's point and each public value times the value's point.
    /// @param key Two words for the constant and for each public value, from `POINTS` on.
    function _combine(
        uint256[] calldata key,
        uint256[] memory publics
    ) private view returns (bool isPoint, uint256 x, uint256 y) {
        assembly ("memory-safe") {
            // The sum (two words), then a public value's point and the value (three words).
            let slots := mload(0x40)
            let term := add(slots, 64)
            let points := add(key.offset, mul(32, POINTS))
            calldatacopy(slots, points, 64)
            isPoint := 1
            // From the last value to the first. A value has one word behind the list's length, and two words of a point
            // behind those of the constant: `at` is the distance of the value from the list, half of the point's.
            for {
                let at := mul(32, mload(publics))
            } at {
                at := sub(at, 32)
            } {
                calldatacopy(term, add(points, mul(2, at)), 64)
                let value := mload(add(publics, at))
                mstore(add(slots, 128), value)
                // SAFETY: the group takes a value and the value plus the order for the same. A value whose point is at
                // infinity would be bound to nothing.
                isPoint := and(lt(value, ORDER), iszero(iszero(or(mload(term), mload(add(term, 32))))))
                if isPoint {
                    isPoint := staticcall(MULTIPLY_GAS, MULTIPLY, term, 96, term, 64)
                }
                if isPoint {
                    isPoint := staticcall(ADD_GAS, ADD, slots, 128, slots, 64)
                }
                if iszero(isPoint) {
                    break
                }
            }
            x := mload(slots)
            y := mload(add(slots, 32))
        }
    }
}
