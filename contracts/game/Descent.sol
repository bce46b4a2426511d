// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {GameState, Pick, Level} from "../types/GameState.sol";
import {Job} from "../types/Job.sol";
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

    /// @notice Begins at a claim's root: the root of the answer's output list, of the item list, or of the only item's
    /// trace.
    function begin(GameState memory s, Job calldata job) internal pure {
        if (job.answers != 0) _enterList(s, Level.Answer, job.answers);
        else if (job.items != 1) _enterList(s, Level.Run, job.items);
        else enterTrace(s);
    }

    /// @notice Goes from the current node to the picked one, and on into the next lists if that is a leaf.
    /// @return Whether it went into a list that the program's own lists lead to.
    function descend(GameState memory s, Pick calldata p) internal view returns (bool) {
        uint256 levels = p.siblings.length;
        // An answer's outputs were all submitted: there is nothing to reveal above them.
        bool fits = s.level == Level.Answer ? levels == s.depth : levels <= s.depth;
        require(fits, IDisputeGame.WrongPathLength(levels, s.depth));
        // SAFETY: the picked node is below the current one; its leading index bits say where.
        require(uint256(p.index) >> levels == s.index, IDisputeGame.PickNotBelowNode(p.index, s.index));
        uint256 depth = s.depth - levels;
        // INVARIANT: a game never stands on padding, and therefore always has a tensor, a step or an element to name.
        require(uint256(p.index) << depth < s.width, IDisputeGame.PickPastWidth(p.index, s.width));
        bytes32 root = PositionalMerkle.rootFromPath(p.node, p.index & ((1 << levels) - 1), p.siblings);
        require(root == s.node, IDisputeGame.NotTheNode(s.node, root));
        s.node = p.node;
        // Below the width, which has 32 bits.
        s.index = uint32(p.index);
        s.depth = uint8(depth);
        if (depth != 0 || s.level == Level.Tensor || s.level == Level.Answer) return false;
        if (s.level == Level.Items) {
            s.item = uint16(s.index);
            return _atOutput(s, p);
        }
        // A leaf of the run is a trace root. For a single-checkpoint trace, the root itself is the leaf.
        if (s.level == Level.Run) {
            s.item = uint16(s.index);
            enterTrace(s);
            if (s.depth != 0) return false;
        }
        _cross(s, p);
        return true;
    }

    /// @notice Goes from a leaf of an answer to the output behind the leaf: to the list of the items' tensors if each
    /// item has an output tensor, otherwise to the last item's tensor.
    function enterOutput(GameState memory s, Job calldata job, Pick calldata p) internal view {
        ProgramFacts calldata program = p.program;
        _requireProgram(s, program);
        (uint256 checkpoint, , bool each) = program.header.output(s.index);
        s.step = uint32(checkpoint);
        uint256 last = job.items - 1;
        bool crossed;
        if (each && last != 0) {
            _enterList(s, Level.Items, job.items);
        } else {
            s.item = uint16(last);
            // The last item takes tensors from earlier items: only the whole run shows whether they are right. The game
            // then stays at the answer's leaf.
            if (last == 0 || !program.header.carries()) {
                _enterList(s, Level.Items, 1);
                crossed = _atOutput(s, p);
            }
        }
        // SAFETY: unread siblings must be absent, because siblings are paid for (GasSchedule.seam).
        uint256 siblings = p.checkpoint.siblings.length + p.step.siblings.length;
        require(crossed || siblings == 0, IDisputeGame.WrongPathLength(siblings, 0));
    }

    /// @dev Handles the tensor of an item's output. If the trace has only this checkpoint, the tensor's root is also
    /// the trace root.
    function _atOutput(GameState memory s, Pick calldata p) private view returns (bool crossed) {
        if (s.checkpoints != 1) return false;
        enterTrace(s);
        _cross(s, p);
        return true;
    }

    /// @notice Takes the current node as the root of an item's trace.
    function enterTrace(GameState memory s) internal pure {
        s.traceRoot = s.node;
        _enterList(s, Level.Trace, s.checkpoints);
    }

    /// @dev Takes the current node as the root of a list.
    function _enterList(GameState memory s, Level level, uint256 width) private pure {
        s.level = level;
        s.index = 0;
        s.width = uint32(width);
        s.depth = uint8(PositionalMerkle.depth(width));
    }

    /// @notice Moves from a leaf into a worker's list that contains the leaf. `children` are the list's first nodes.
    /// Moves from an answer's output into the run (the output belongs to the run's last item), from an item's output
    /// into the item's trace, or from a trace leaf into the list of its range.
    /// @param siblings The path from the leaf up to one of the children.
    /// @return hop Levels between the list's root and the children.
    function expand(
        GameState memory s,
        uint256 arityBits,
        bytes calldata children,
        bytes32[] calldata siblings
    ) internal view returns (uint256 hop) {
        bytes32 leaf = s.node;
        if (s.level == Level.Answer) {
            // The output is a checkpoint in the last item's trace, and this trace is the run's last leaf.
            uint256 levels = PositionalMerkle.depth(s.checkpoints);
            require(siblings.length >= levels, IDisputeGame.WrongPathLength(siblings.length, levels));
            leaf = PositionalMerkle.rootFromPath(leaf, s.step, siblings[:levels]);
            hop = _enterShown(s, Level.Run, uint256(s.item) + 1, s.item, leaf, arityBits, children, siblings[levels:]);
            s.runRoot = s.node;
        } else if (s.level == Level.Items) {
            hop = _enterShown(s, Level.Trace, s.checkpoints, s.step, leaf, arityBits, children, siblings);
            s.traceRoot = s.node;
        } else {
            uint256 width = rangeOf(s);
            // The list of a range ends in the tensor of the range's checkpoint.
            hop = _enterShown(s, Level.Interior, width, width - 1, leaf, arityBits, children, siblings);
            s.interiorRoot = s.node;
        }
    }

    /// @dev Enters a list of `width` leaves through its first nodes, if the list holds `leaf` at `index`.
    function _enterShown(
        GameState memory s,
        Level level,
        uint256 width,
        uint256 index,
        bytes32 leaf,
        uint256 arityBits,
        bytes calldata children,
        bytes32[] calldata siblings
    ) private view returns (uint256 hop) {
        uint256 depth = PositionalMerkle.depth(width);
        hop = hopOf(depth, arityBits);
        s.node = checkChildren(0, width, depth, hop, children);
        uint256 below = depth - hop;
        bytes32 child = bytes32(children[32 * (index >> below):]);
        // INVARIANT: the list holds the disputed leaf at the leaf's place: agreement on the list decides the leaf.
        require(
            PositionalMerkle.nodeUnder(child, below, leaf, index & ((1 << below) - 1), siblings),
            IDisputeGame.LeafNotInList(leaf)
        );
        _enterList(s, level, width);
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
        // The number of nodes at the children's height with a leaf below the width, less the nodes before these
        // children. At least one child counts.
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

    /// @notice Requires that a chunk has 512 bytes, hashes to the node, and contains only zeros past the tensor's end.
    function checkChunk(GameState memory s, bytes calldata chunk) internal pure {
        require(
            chunk.length == TensorTree.CHUNK_BYTES,
            IDisputeGame.WrongDataLength(chunk.length, TensorTree.CHUNK_BYTES)
        );
        bytes32 hash = sha256(chunk);
        require(hash == s.node, IDisputeGame.NotTheNode(s.node, hash));
        if (s.index == s.width - 1) _checkTail(chunk, s.tailBytes);
    }

    /// @dev Checks a word at a time; the first word is checked without its tensor bytes.
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
        _requireProgram(s, program);
        if (s.level == Level.Interior) {
            // SAFETY: unread siblings must be absent, because siblings are paid for (GasSchedule.seam).
            require(checkpoint.siblings.length == 0, IDisputeGame.WrongPathLength(checkpoint.siblings.length, 0));
            _enterTensor(s, program, p.step, uint256(s.first) + s.index);
            return;
        }
        // SAFETY: the range ends inside the program, so its width and all its steps can be proven.
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

    function _requireProgram(GameState memory s, ProgramFacts calldata program) private view {
        bytes32 root = program.root();
        require(root == s.programRoot, IDisputeGame.WrongProgram(s.programRoot, root));
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
        _enterList(s, Level.Tensor, chunks);
        s.step = uint32(step);
        s.tailBytes = uint16(size - (chunks - 1) * TensorTree.CHUNK_BYTES);
    }
}
