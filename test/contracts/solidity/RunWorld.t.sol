// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IStepVerifier} from "../../../contracts/interfaces/IStepVerifier.sol";
import {GameState, InputProof, Level, Pick, StepProof} from "../../../contracts/types/GameState.sol";
import {Job} from "../../../contracts/types/Job.sol";
import {CheckpointOpening, ProgramFacts, StepOpening} from "../../../contracts/types/Program.sol";
import {ProtocolWorld} from "./ProtocolWorld.t.sol";
import {HashedSteps, HashingVerifier, Lists} from "./RunLists.t.sol";

/// @notice The protocol with runs: what their traces, answers, moves and proofs are, in their plainest form.
/// The program has three steps. Step 0 reads an input of which each item has its own, and the index; step 1 reads step
/// 0 and an input that all items share; step 2 reads step 1 and, if items carry state, step 2 of the item before.
/// Checkpoints are steps 1 and 2. Of the outputs, the first is step 2, of each item or, if items carry state, of the
/// last; the second is step 1 of the last item.
abstract contract RunWorld is ProtocolWorld {
    using Lists for bytes32[];

    /// @dev An execution. `values` and `roots`: three of each item.
    struct Run {
        bool carries;
        uint256 items;
        uint64[] values;
        bytes32[] roots;
    }

    uint256 internal constant STEPS = 3;
    uint64 internal constant WORK = 5_000;
    uint32 internal constant FIRST_ITEM = 1_000;
    uint256 internal constant SHARED = 0;
    uint256 internal constant EACH = 1;
    uint256 internal constant INDEX = 2;
    uint256 internal constant CARRIED = 3;
    uint64 private constant SHARED_VALUE = 11;
    uint64 private constant EACH_VALUE = 100;
    uint64 private constant CARRIED_VALUE = 12;

    function _verifier() internal override returns (IStepVerifier) {
        return new HashingVerifier();
    }

    /* ---- The program ---- */

    function _header(bool carries, bool each) internal pure returns (bytes memory header) {
        header = abi.encodePacked(uint16(2), uint32(1_000_000), uint32(90_000), WORK, uint32(STEPS), uint32(2));
        header = abi.encodePacked(header, uint16(carries ? 4 : 3), uint16(2));
        header = abi.encodePacked(header, _input(65, 0, 0), _input(65, 1, 0), _input(1, 3, 0));
        if (carries) header = abi.encodePacked(header, _input(65, 2, 1));
        header = abi.encodePacked(header, _output(1, each), _output(0, false));
    }

    function _input(uint64 elements, uint8 source, uint32 carried) private pure returns (bytes memory) {
        return abi.encodePacked(uint8(7), elements, source, carried);
    }

    function _output(uint32 checkpoint, bool each) private pure returns (bytes memory) {
        return abi.encodePacked(checkpoint, uint8(7), uint64(65), uint8(each ? 1 : 0));
    }

    function _program(bool carries) internal pure returns (ProgramFacts memory) {
        return _programOf(carries, !carries);
    }

    function _programOf(bool carries, bool each) internal pure returns (ProgramFacts memory) {
        return ProgramFacts(_header(carries, each), _stepLeaves(carries).root(), _checkpointLeaves().root());
    }

    function _stepLeaves(bool carries) private pure returns (bytes32[] memory leaves) {
        leaves = new bytes32[](STEPS);
        for (uint256 k = 0; k < STEPS; ++k) {
            leaves[k] = sha256(abi.encodePacked(bytes1(0), uint8(7), uint64(65), sha256(_body(carries, k))));
        }
    }

    function _checkpointLeaves() private pure returns (bytes32[] memory) {
        return
            Lists.pair(
                sha256(abi.encodePacked(bytes1(0), uint32(0), uint32(1))),
                sha256(abi.encodePacked(bytes1(0), uint32(2), uint32(2)))
            );
    }

    function _body(bool carries, uint256 k) internal pure returns (bytes memory) {
        if (k == 0) return abi.encodePacked(uint8(2), _read(0, 65, EACH), _read(0, 1, INDEX));
        if (k == 1) return abi.encodePacked(uint8(2), _read(2, 65, 0), _read(0, 65, SHARED));
        if (!carries) return abi.encodePacked(uint8(1), _read(2, 65, 1));
        return abi.encodePacked(uint8(2), _read(2, 65, 1), _read(0, 65, CARRIED));
    }

    function _read(uint8 kind, uint64 count, uint256 index) private pure returns (bytes memory) {
        return abi.encodePacked(kind, uint8(7), count, uint32(index));
    }

    function _stepOf(bool carries, uint256 k) internal pure returns (StepOpening memory) {
        return StepOpening(7, 65, sha256(_body(carries, k)), _stepLeaves(carries).path(k));
    }

    function _checkpointOf(uint256 k) internal pure returns (CheckpointOpening memory) {
        bytes32[] memory siblings = _checkpointLeaves().path(k);
        return k == 0 ? CheckpointOpening(0, 1, siblings) : CheckpointOpening(2, 2, siblings);
    }

    /* ---- Inputs ---- */

    function _inputValue(uint256 input, uint256 item) internal pure returns (uint64) {
        if (input == EACH) return uint64(EACH_VALUE + item);
        return input == SHARED ? SHARED_VALUE : CARRIED_VALUE;
    }

    function _eachRoots(uint256 items) internal pure returns (bytes32[] memory roots) {
        roots = new bytes32[](items);
        for (uint256 i = 0; i < items; ++i) roots[i] = HashedSteps.rootOf(_inputValue(EACH, i));
    }

    function _inputRoots(bool carries, uint256 items) internal pure returns (bytes32[] memory roots) {
        roots = new bytes32[](carries ? 4 : 3);
        roots[SHARED] = HashedSteps.rootOf(_inputValue(SHARED, 0));
        roots[EACH] = _eachRoots(items).root();
        if (carries) roots[CARRIED] = HashedSteps.rootOf(_inputValue(CARRIED, 0));
    }

    function _indexRoot(uint256 item) internal pure returns (bytes32) {
        bytes memory chunk = new bytes(512);
        uint256 index = FIRST_ITEM + item;
        (chunk[0], chunk[1]) = (bytes1(uint8(index)), bytes1(uint8(index >> 8)));
        return sha256(chunk);
    }

    /// @dev Of a tensor of an input: in the list of items if each has its own, then among the inputs.
    function _inputPath(
        bool carries,
        uint256 items,
        uint256 input,
        uint256 item
    ) internal pure returns (bytes32[] memory path) {
        path = _inputRoots(carries, items).path(input);
        if (input == EACH) path = _eachRoots(items).path(item).join(path);
    }

    /* ---- Executions ---- */

    /// @param lieAt 0: honest. Else one more than the number of the wrong value; all others follow from it.
    function _execute(bool carries, uint256 items, uint256 lieAt) internal pure returns (Run memory run) {
        run = Run(carries, items, new uint64[](STEPS * items), new bytes32[](STEPS * items));
        for (uint256 n = 0; n < STEPS * items; ++n) {
            (uint256 item, uint256 k) = (n / STEPS, n % STEPS);
            bytes32[] memory roots = new bytes32[](k == 2 && !carries ? 1 : 2);
            if (k == 0) (roots[0], roots[1]) = (HashedSteps.rootOf(_inputValue(EACH, item)), _indexRoot(item));
            else roots[0] = run.roots[n - 1];
            if (k == 1) roots[1] = HashedSteps.rootOf(SHARED_VALUE);
            if (k == 2 && carries) roots[1] = item == 0 ? HashedSteps.rootOf(CARRIED_VALUE) : run.roots[n - STEPS];
            run.values[n] = HashedSteps.valueOf(_body(carries, k), roots);
            if (n + 1 == lieAt) run.values[n] ^= 1;
            run.roots[n] = HashedSteps.rootOf(run.values[n]);
        }
    }

    function _at(Run memory run, uint256 item, uint256 k) internal pure returns (bytes32) {
        return run.roots[STEPS * item + k];
    }

    function _trace(Run memory run, uint256 item) internal pure returns (bytes32[] memory) {
        return Lists.pair(_at(run, item, 1), _at(run, item, 2));
    }

    function _traces(Run memory run) internal pure returns (bytes32[] memory roots) {
        roots = new bytes32[](run.items);
        for (uint256 i = 0; i < run.items; ++i) roots[i] = _trace(run, i).root();
    }

    /// @dev The tensors of a checkpoint of all items.
    function _tensors(Run memory run, uint256 checkpoint) internal pure returns (bytes32[] memory roots) {
        roots = new bytes32[](run.items);
        for (uint256 i = 0; i < run.items; ++i) roots[i] = _at(run, i, checkpoint + 1);
    }

    function _outputs(Run memory run) internal pure returns (bytes32[] memory) {
        bytes32 first = run.carries ? _at(run, run.items - 1, 2) : _tensors(run, 1).root();
        return Lists.pair(first, _at(run, run.items - 1, 1));
    }

    /// @dev What a claim of the run is the root of.
    function _claimed(Run memory run, Job memory job) internal pure returns (bytes32[] memory) {
        if (job.answers != 0) return _outputs(run);
        return job.items == 1 ? _trace(run, 0) : _traces(run);
    }

    /* ---- Games ---- */

    /// @dev The leaves of the list that a game is in.
    function _listOf(GameState memory s, Run memory run) internal pure returns (bytes32[] memory leaves) {
        if (s.level == Level.Answer) return _outputs(run);
        if (s.level == Level.Run) return _traces(run);
        if (s.level == Level.Trace) return _trace(run, s.item);
        if (s.level == Level.Tensor) return HashedSteps.chunksOf(run.values[STEPS * s.item + s.step]);
        if (s.level == Level.Interior) return Lists.pair(_at(run, s.item, 0), _at(run, s.item, 1));
        if (s.width != 1) return _tensors(run, s.step);
        leaves = new bytes32[](1);
        leaves[0] = _at(run, s.item, s.step + 1);
    }

    /// @dev From the root of a list to one of its leaves.
    function _pickAt(GameState memory s, Run memory run, uint256 leaf) internal pure returns (Pick memory pick) {
        bytes32[] memory leaves = _listOf(s, run);
        (pick.index, pick.node, pick.siblings) = (uint64(leaf), leaves[leaf], leaves.path(leaf));
        bool ranges = s.level == Level.Trace;
        if (ranges || s.level == Level.Interior || s.level == Level.Answer) pick.program = _program(run.carries);
        if (ranges) pick.checkpoint = _checkpointOf(leaf);
        if (s.level == Level.Interior) pick.step = _stepOf(run.carries, leaf);
        if (ranges && leaf == 1) pick.step = _stepOf(run.carries, 2);
    }

    /// @dev What a worker expands a leaf into, and the way from the leaf up to that.
    function _expansionOf(
        GameState memory s,
        Run memory run
    ) internal pure returns (bytes32[] memory children, bytes32[] memory siblings) {
        if (s.level == Level.Answer) return (_traces(run).padded(), _trace(run, s.item).path(s.step));
        if (s.level == Level.Items) return (_trace(run, s.item), siblings);
        return (Lists.pair(_at(run, s.item, 0), _at(run, s.item, 1)), siblings);
    }

    /// @dev Of an element of the chunk in dispute, or of one chunk below a tensor's root.
    function _proofOf(
        GameState memory s,
        Run memory run,
        uint256 which
    ) internal pure returns (StepProof memory proof) {
        uint256 chunk = s.depth == 0 ? s.index : which % 2;
        uint64 value = run.values[STEPS * s.item + s.step];
        proof.pick.program = _program(run.carries);
        proof.pick.step = _stepOf(run.carries, s.step);
        proof.body = _body(run.carries, s.step);
        proof.element = uint64(chunk * HashedSteps.CHUNK_ELEMENTS);
        proof.chunk = HashedSteps.chunkOf(value, chunk);
        if (s.depth != 0) proof.chunkSiblings = HashedSteps.chunksOf(value).path(chunk);
        proof.inputs = new InputProof[](s.step == 2 && !run.carries ? 1 : 2);
        if (s.step == 0) {
            proof.inputs[0] = _ofJob(run, EACH, s.item);
        } else if (s.step == 1) {
            proof.inputs[0].root = _at(run, s.item, 0);
            proof.inputs[0].siblings = Lists.pair(_at(run, s.item, 0), _at(run, s.item, 1)).path(0);
            proof.inputs[1] = _ofJob(run, SHARED, s.item);
        } else {
            proof.inputs[0] = InputProof(_at(run, s.item, 1), _trace(run, s.item).path(0), 0, _checkpointOf(0));
            if (run.carries) _carry(proof, run, s.item, 1);
        }
    }

    /// @dev Takes input `i` of a proof from the item before, or for the first item from the job.
    function _carry(StepProof memory proof, Run memory run, uint256 item, uint256 i) internal pure {
        if (item == 0) {
            proof.inputs[i] = _ofJob(run, CARRIED, 0);
            return;
        }
        proof.previous = _trace(run, item - 1).root();
        proof.previousSiblings = _traces(run).path(item - 1);
        (proof.inputs[i].root, proof.inputs[i].siblings) = (_at(run, item - 1, 2), _trace(run, item - 1).path(1));
    }

    function _ofJob(Run memory run, uint256 input, uint256 item) internal pure returns (InputProof memory proof) {
        proof.root = HashedSteps.rootOf(_inputValue(input, item));
        proof.siblings = _inputPath(run.carries, run.items, input, item);
    }

    /* ---- Outputs ---- */

    function _outputData(Run memory run, uint256 item, uint256 output) internal pure returns (bytes memory) {
        return HashedSteps.bytesOf(run.values[STEPS * item + (output == 0 ? 2 : 1)]);
    }

    function _outputPath(
        Run memory run,
        Job memory job,
        uint256 item,
        uint256 output
    ) internal pure returns (bytes32[] memory) {
        if (job.answers == 0) return _trace(run, item).path(output == 0 ? 1 : 0).join(_traces(run).path(item));
        bytes32[] memory path = _outputs(run).path(output);
        return output == 0 && !run.carries ? _tensors(run, 1).path(item).join(path) : path;
    }
}
