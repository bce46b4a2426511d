// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @notice Opened chunks of one tensor (docs/program.md, "multiproof").
/// @param indices Strictly increasing chunk numbers, each below the tensor's chunk count.
/// @param chunks The chunks, 512 bytes each, in the order of `indices`.
/// @param siblings The multiproof's siblings, in order of consumption.
struct ChunkOpening {
    uint256[] indices;
    bytes chunks;
    bytes32[] siblings;
}

/// @title Recomputes one element of one step of a program.
interface IStepVerifier {
    /// @notice Returns the exact value of a step's output element.
    /// @dev Total over data: returns a value for every well-formed step body and every content of the opened chunks.
    /// Reverts only for a malformed body, an opening that does not prove its chunks under the given root, or a missing
    /// but needed chunk.
    /// @param body The encoded step (docs/program.md, "Step body").
    /// @param element The flat index of the output element.
    /// @param inputRoots The authenticated tensor root of each step input, in order (zero for a constant, whose root
    /// the body contains).
    /// @param openings One opening per input, in order (empty for an input that the element does not read).
    /// @return word The value: a float32's 32 bits, or an integer's two's complement in 256 bits.
    function evaluate(
        bytes calldata body,
        uint256 element,
        bytes32[] calldata inputRoots,
        ChunkOpening[] calldata openings
    ) external view returns (uint256 word);

    /// @notice The version of the semantics that the verifier follows (docs/program.md).
    /// @return The version.
    function semantics() external view returns (uint256);
}
