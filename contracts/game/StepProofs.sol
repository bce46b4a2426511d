// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../interfaces/IDisputeGame.sol";
import {GameState, InputProof, StepProof} from "../types/GameState.sol";
import {Claim, Job} from "../types/Job.sol";
import {ProgramFacts} from "../types/Program.sol";
import {DType} from "../verifier/DType.sol";
import {PositionalMerkle} from "../merkle/PositionalMerkle.sol";
import {TensorRef, TensorRefs} from "../verifier/TensorRefs.sol";
import {Descent} from "./Descent.sol";
import {InputSource, ProgramHeader} from "../program/ProgramHeader.sol";
import {ProgramProofs} from "../program/ProgramProofs.sol";
import {Runs} from "../program/Runs.sol";
import {TensorTree} from "../merkle/TensorTree.sol";

/// @title Authenticates all data behind a step proof: the step, the claimed element, and the roots that the step reads.
library StepProofs {
    using ProgramHeader for bytes;
    using ProgramProofs for ProgramFacts;

    /// @notice Returns the claimed element in a word of the element's size.
    /// @return claimed The claimed element's bits.
    /// @return mask The bits of an element of this type.
    function claimedElement(
        GameState memory s,
        StepProof calldata proof
    ) internal view returns (uint256 claimed, uint256 mask) {
        bytes32 programRoot = proof.pick.program.root();
        require(programRoot == s.programRoot, IDisputeGame.WrongProgram(s.programRoot, programRoot));
        require(proof.pick.program.hasStep(s.step, proof.pick.step), IDisputeGame.StepNotProven(s.step));
        bytes32 bodyHash = sha256(proof.body);
        require(bodyHash == proof.pick.step.bodyHash, IDisputeGame.WrongBody(proof.pick.step.bodyHash, bodyHash));
        // INVARIANT: only elements of the tensor can be wrong, not its padding.
        require(
            proof.element < proof.pick.step.count,
            IDisputeGame.ElementOutOfRange(proof.element, proof.pick.step.count)
        );
        uint256 log2Bytes = DType.log2Bytes(proof.pick.step.dtype);
        uint256 offset = uint256(proof.element) << log2Bytes;
        _checkChunk(s, proof, offset / TensorTree.CHUNK_BYTES);
        mask = type(uint256).max >> (256 - (8 << log2Bytes));
        claimed = _littleEndian(proof.chunk, offset % TensorTree.CHUNK_BYTES, 1 << log2Bytes);
    }

    /// @notice Returns the authenticated tensor root of each step input.
    function inputRoots(
        GameState memory s,
        Claim calldata claim,
        StepProof calldata proof
    ) internal view returns (bytes32[] memory roots) {
        TensorRef[] memory refs = TensorRefs.decode(proof.body);
        require(proof.inputs.length == refs.length, IDisputeGame.WrongInputCount(proof.inputs.length, refs.length));
        roots = new bytes32[](refs.length);
        _checkPrevious(s, claim, proof);
        for (uint256 i = 0; i < refs.length; ++i) {
            TensorRef memory ref = refs[i];
            // The step body contains a constant's root, and the program commits to the body.
            if (ref.kind == TensorRefs.KIND_CONSTANT) continue;
            roots[i] =
                ref.kind == TensorRefs.KIND_INPUT
                    ? _inputRoot(s, claim.job, proof, i, ref.index)
                    : _stepRoot(s, proof.pick.program, i, ref.index, proof.inputs[i]);
        }
    }

    /// @dev Requires that the previous item's trace root, if the proof includes one, matches the worker's claim.
    function _checkPrevious(GameState memory s, Claim calldata claim, StepProof calldata proof) private view {
        if (proof.previous == 0) return;
        require(s.item != 0, IDisputeGame.NoItemBefore());
        bytes32[] calldata siblings = proof.previousSiblings;
        // SAFETY: an answer's root covers outputs only. To prove an item, the answer must have been expanded into the
        // run.
        bytes32 runRoot = claim.job.answers == 0 ? claim.root : s.runRoot;
        require(
            PositionalMerkle.leafUnder(runRoot, claim.job.items, proof.previous, s.item - 1, siblings),
            IDisputeGame.PreviousNotProven(s.item)
        );
    }

    /// @dev Returns the root of a program input for the disputed item.
    function _inputRoot(
        GameState memory s,
        Job calldata job,
        StepProof calldata proof,
        uint256 i,
        uint256 index
    ) private view returns (bytes32) {
        bytes calldata header = proof.pick.program.header;
        InputProof calldata input = proof.inputs[i];
        (InputSource source, uint256 carried) = header.inputSource(index);
        if (source == InputSource.Index) return Runs.indexRoot(job, s.item);
        bool proven;
        if (source == InputSource.Carried && s.item != 0) {
            bytes32 previous = proof.previous;
            proven =
                previous != 0 &&
                PositionalMerkle.leafUnder(previous, s.checkpoints, input.root, carried, input.siblings);
        } else {
            proven = Runs.hasInput(job, header, s.item, index, input.root, input.siblings);
        }
        require(proven, IDisputeGame.InputNotProven(i));
        return input.root;
    }

    /// @dev Takes the root of a step inside the range from the worker's interior list, and of an earlier step from the
    /// trace: both are the worker's own claims.
    function _stepRoot(
        GameState memory s,
        ProgramFacts calldata program,
        uint256 i,
        uint32 read,
        InputProof calldata input
    ) private view returns (bytes32) {
        require(_isStep(s, program, i, read, input), IDisputeGame.InputNotProven(i));
        return input.root;
    }

    function _isStep(
        GameState memory s,
        ProgramFacts calldata program,
        uint256 i,
        uint32 read,
        InputProof calldata input
    ) private view returns (bool) {
        // SAFETY: a step that reads itself or a later step could agree with itself.
        require(read < s.step, IDisputeGame.ReadsLaterStep(i, read, s.step));
        if (read >= s.first) {
            uint256 width = Descent.rangeOf(s);
            return PositionalMerkle.leafUnder(s.interiorRoot, width, input.root, read - s.first, input.siblings);
        }
        uint256 checkpoint = input.checkpointIndex;
        require(
            input.checkpoint.step == read && program.hasCheckpoint(checkpoint, input.checkpoint),
            IDisputeGame.NotACheckpoint(i, read)
        );
        return PositionalMerkle.leafUnder(s.traceRoot, s.checkpoints, input.root, checkpoint, input.siblings);
    }

    /// @dev The chunk is number `index` of the tensor, and below the node in dispute.
    function _checkChunk(GameState memory s, StepProof calldata proof, uint256 index) private view {
        require(
            proof.chunk.length == TensorTree.CHUNK_BYTES,
            IDisputeGame.WrongDataLength(proof.chunk.length, TensorTree.CHUNK_BYTES)
        );
        require(index >> s.depth == s.index, IDisputeGame.ElementNotBelowNode(proof.element));
        bytes32 leaf = sha256(proof.chunk);
        require(
            PositionalMerkle.nodeUnder(s.node, s.depth, leaf, index & ((1 << s.depth) - 1), proof.chunkSiblings),
            IDisputeGame.NotTheNode(s.node, leaf)
        );
    }

    function _littleEndian(bytes calldata chunk, uint256 offset, uint256 size) private pure returns (uint256 word) {
        for (uint256 i = size; i > 0; --i) word = (word << 8) | uint8(chunk[offset + i - 1]);
    }
}
