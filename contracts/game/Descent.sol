// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {GameState, Pick, Level} from "../types/GameState.sol";
import {CheckpointOpening, ProgramFacts, StepOpening} from "../types/Program.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {ProgramHeader} from "../program/ProgramHeader.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {TensorTree} from "../merkle/TensorTree.sol";

/// @title How a game goes down: within a list, and from one list into the next.
/// @dev Functions change the state in memory; the caller checks who may and stores it.
library Descent {
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;

    /// @notice Levels that a reveal crosses at a node `depth` levels above the leaves, with up to `2^arityBits`
    /// children.
    function hopOf(uint256 depth, uint256 arityBits) internal pure returns (uint256) {
        // Balanced: 11 levels in reveals of at most 4 are 4 + 4 + 3.
        if (depth == 0) return 0;
        unchecked {
            uint256 reveals = (depth + arityBits - 1) / arityBits;
            return (depth + reveals - 1) / reveals;
        }
    }

    /// @notice Begins at a claim's root: of the list of its items, or of the trace of its only item.
    function begin(GameState memory s, uint256 items) internal pure {
        if (items == 1) {
            enterTrace(s);
            return;
        }
        s.level = Level.Run;
        s.width = uint32(items);
        s.depth = uint8(PositionalMerkle.depth(items));
    }

    /// @notice Goes from the current node to the picked one, and on into the next lists if that is a leaf.
    /// @return Whether it went into a list that the program's own lists lead to.
    function descend(GameState memory s, Pick calldata p) internal view returns (bool) {
        uint256 levels = p.siblings.length;
        require(levels <= s.depth, IDisputeGame.WrongPathLength(levels, s.depth));
        // SAFETY: the picked node is below the current one; its leading index bits say where.
        require(uint256(p.index) >> levels == s.index, IDisputeGame.PickNotBelowNode(p.index, s.index));
        uint256 depth = s.depth - levels;
        // INVARIANT: a game never stands on padding, so that there is always a tensor, a step or an element to name.
        require(uint256(p.index) << depth < s.width, IDisputeGame.PickPastWidth(p.index, s.width));
        bytes32 root = PositionalMerkle.rootFromPath(p.node, p.index & ((1 << levels) - 1), p.siblings);
        require(root == s.node, IDisputeGame.NotTheNode(s.node, root));
        s.node = p.node;
        // Below the width, which has 32 bits.
        s.index = uint32(p.index);
        s.depth = uint8(depth);
        // A leaf of the run is a trace root. A trace of one checkpoint is a leaf itself.
        if (depth == 0 && s.level == Level.Run) {
            s.item = uint16(s.index);
            enterTrace(s);
        }
        if (s.depth != 0 || s.level == Level.Tensor) return false;
        _cross(s, p);
        return true;
    }

    /// @notice Takes the current node as the root of an item's trace.
    function enterTrace(GameState memory s) internal pure {
        s.level = Level.Trace;
        s.traceRoot = s.node;
        s.index = 0;
        s.width = s.checkpoints;
        s.depth = uint8(PositionalMerkle.depth(s.checkpoints));
    }

    /// @notice From a trace leaf into the list of its range, whose first nodes are `children`.
    function enterInterior(
        GameState memory s,
        uint256 hop,
        bytes calldata children,
        bytes32[] calldata siblings
    ) internal view {
        uint256 width = rangeOf(s);
        uint256 depth = PositionalMerkle.depth(width);
        bytes32 root = checkChildren(0, width, depth, hop, children);
        uint256 below = depth - hop;
        uint256 lastChild = (width - 1) >> below;
        bytes32 child = bytes32(children[32 * lastChild:]);
        // INVARIANT: the interior list ends in the tensor that the trace holds: what is agreed of the list decides the
        // disputed leaf.
        require(
            PositionalMerkle.nodeUnder(child, below, s.node, (width - 1) & ((1 << below) - 1), siblings),
            IDisputeGame.LastLeafNotDisputed(s.node)
        );
        s.level = Level.Interior;
        s.node = root;
        s.interiorRoot = root;
        s.index = 0;
        s.width = uint32(width);
        s.depth = uint8(depth);
    }

    /// @notice Steps of the disputed checkpoint's range: less than 2^32, because a program has fewer steps than that.
    function rangeOf(GameState memory s) internal pure returns (uint256) {
        return uint256(s.last) - s.first + 1;
    }

    /// @notice The parent of `2^hop` children of the node at `index`, `depth` levels above the leaves, after checking
    /// their padding.
    function checkChildren(
        uint256 index,
        uint256 width,
        uint256 depth,
        uint256 hop,
        bytes calldata children
    ) internal view returns (bytes32) {
        uint256 count = 1 << hop;
        require(children.length == 32 * count, IDisputeGame.WrongDataLength(children.length, 32 * count));
        uint256 height = depth - hop;
        // Nodes of the children's height that hold a leaf below the width, less those before these children. At least
        // one is among them.
        uint256 real = (((width - 1) >> height) + 1) - (index << hop);
        if (real < count) {
            bytes32 zero = PositionalMerkle.zeroHash(height);
            for (uint256 c = real; c < count; ++c) {
                // INVARIANT: padding is zero, else roots could differ where no element does.
                require(bytes32(children[32 * c:]) == zero, IDisputeGame.PaddingNotZero(c));
            }
        }
        return TensorTree.parentOf(children);
    }

    /// @notice Checks that a chunk is 512 bytes, hashes to the node, and is zero past the tensor's end.
    function checkChunk(GameState memory s, bytes calldata chunk) internal pure {
        require(
            chunk.length == TensorTree.CHUNK_BYTES,
            IDisputeGame.WrongDataLength(chunk.length, TensorTree.CHUNK_BYTES)
        );
        bytes32 hash = sha256(chunk);
        require(hash == s.node, IDisputeGame.NotTheNode(s.node, hash));
        if (s.index == s.width - 1) _checkTail(chunk, s.tailBytes);
    }

    /// @dev A word at a time; the first word without its bytes of the tensor.
    function _checkTail(bytes calldata chunk, uint256 tailBytes) private pure {
        for (uint256 offset = tailBytes & ~uint256(31); offset < TensorTree.CHUNK_BYTES; offset += 32) {
            uint256 word = uint256(bytes32(chunk[offset:offset + 32]));
            if (offset < tailBytes) word &= type(uint256).max >> (8 * (tailBytes - offset));
            // INVARIANT: as for padding leaves.
            require(word == 0, IDisputeGame.PaddingNotZero(offset));
        }
    }

    /// @dev At a leaf: takes from the program what the next list needs.
    function _cross(GameState memory s, Pick calldata p) private view {
        ProgramFacts calldata program = p.program;
        CheckpointOpening calldata checkpoint = p.checkpoint;
        bytes32 programRoot = program.root();
        require(programRoot == s.programRoot, IDisputeGame.WrongProgram(s.programRoot, programRoot));
        if (s.level == Level.Interior) {
            // SAFETY: what is not read is not there, because siblings are paid for (GasSchedule.seam).
            require(checkpoint.siblings.length == 0, IDisputeGame.WrongPathLength(checkpoint.siblings.length, 0));
            _enterTensor(s, program, p.step, uint256(s.first) + s.index);
            return;
        }
        // SAFETY: the range ends inside the program, so that its width and every step in it can be proven.
        require(
            program.hasCheckpoint(s.index, checkpoint) &&
                checkpoint.first <= checkpoint.step &&
                checkpoint.step < program.header.stepCount(),
            IDisputeGame.CheckpointNotProven(s.index)
        );
        s.first = checkpoint.first;
        s.last = checkpoint.step;
        // A range of one step has nothing to expand.
        if (s.first == s.last) _enterTensor(s, program, p.step, s.last);
        else require(p.step.siblings.length == 0, IDisputeGame.WrongPathLength(p.step.siblings.length, 0));
    }

    function _enterTensor(
        GameState memory s,
        ProgramFacts calldata program,
        StepOpening calldata opening,
        uint256 step
    ) private view {
        require(program.hasStep(step, opening), IDisputeGame.StepNotProven(step));
        uint256 size = ProgramHeader.tensorBytes(opening.dtype, opening.count);
        uint256 chunks = TensorTree.chunkCount(size);
        s.level = Level.Tensor;
        s.step = uint32(step);
        s.index = 0;
        s.width = uint32(chunks);
        s.depth = uint8(PositionalMerkle.depth(chunks));
        s.tailBytes = uint16(size - (chunks - 1) * TensorTree.CHUNK_BYTES);
    }
}
