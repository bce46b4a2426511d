// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {GameState, Level, Move, PackedState, Side, StepProof} from "../../../contracts/types/GameState.sol";
import {GameId} from "../../../contracts/types/Ids.sol";
import {Claim, Job} from "../../../contracts/types/Job.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {HashedSteps, Lists} from "./RunLists.t.sol";
import {RunWorld} from "./RunWorld.t.sol";

/// @notice What nobody may in games about runs and answers: another's list, a list too late or twice, and proofs with
/// other roots than those that a step reads.
abstract contract RunTrespasses is RunWorld {
    using Lists for bytes32[];

    /// @dev A game in a chunk, and what draws an element of it.
    struct Forging {
        GameId id;
        GameState s;
        Run run;
        uint8 bits;
    }

    /// @notice Calls that should have reverted, and the last of them.
    uint256 public trespasses;
    string public trespass;
    /// @dev 0: honest. Else one more than the number of the wrong value.
    mapping(uint256 claim => uint256) internal _lieAt;

    /// @notice What nobody may at the state of a game.
    function intrudeRun(uint8 which, uint8 bits) public {
        GameId id = _games[which % _games.length];
        uint256 c = _claimOf[id];
        (, bool dead, , ) = game.claimGames(_claimId(_claims[c]));
        if (_isOver(id) == 1 || dead) return;
        (Run memory run, ) = _runsOf(c);
        GameState memory s = this.unpack(_states[id]);
        address worker = _claims[c].worker;
        bool expands = s.depth == 0 && s.level != Level.Tensor;
        if (s.turn == Side.Challenger) {
            if (s.move != Move.Open) _revertsBy(worker, _workersCall(id, s, run), "a worker moves twice");
            if (s.move == Move.Expand) _expandAgain(id, run, worker);
            if (s.level == Level.Tensor && _lieAt[c] == 0) _forge(Forging(id, s, run, bits));
            return;
        }
        if (s.level == Level.Tensor && _lieAt[c] == 0) _forge(Forging(id, s, run, bits));
        if (!expands) return;
        bytes memory own = _workersCall(id, s, run);
        if (_now > s.since + s.workerSeconds) {
            _revertsBy(worker, own, "a list comes too late");
            return;
        }
        _revertsBy(s.challenger, own, "a stranger binds a worker to a list");
        // A list in which all differs, and one in which the leaf is at another place.
        uint256 first = STEPS * s.item;
        Run memory other = _execute(run.carries, run.items, first + 1 == _lieAt[c] ? 0 : first + 1);
        (bytes32[] memory children, bytes32[] memory siblings) = _expansionOf(s, other);
        _revertsBy(worker, _expandCall(id, children, siblings), "a list that does not hold the leaf");
        (children, siblings) = _expansionOf(s, run);
        uint256 place =
            s.level == Level.Answer
                ? s.item
                : s.level == Level.Items
                    ? s.step
                    : 1;
        (children[0], children[place]) = (children[place], children[0]);
        if (place != 0) _revertsBy(worker, _expandCall(id, children, siblings), "a list that holds it elsewhere");
    }

    /* ---- Helpers ---- */

    function _runsOf(uint256 c) internal view returns (Run memory run, Run memory honest) {
        Job memory job = _claims[c].job;
        bool carries = job.programRoot != _rootOf(false);
        honest = _execute(carries, job.items, 0);
        run = _lieAt[c] == 0 ? honest : _execute(carries, job.items, _lieAt[c]);
    }

    function _rootOf(bool carries) internal pure returns (bytes32) {
        ProgramFacts memory p = _program(carries);
        return sha256(abi.encodePacked(bytes1(0), p.header, p.stepsRoot, p.checkpointsRoot));
    }

    function _workersCall(GameId id, GameState memory s, Run memory run) internal view returns (bytes memory) {
        if (s.depth != 0) {
            return abi.encodeCall(game.reveal, (_states[id], abi.encodePacked(_listOf(s, run).padded())));
        }
        if (s.level == Level.Tensor) {
            uint64 value = run.values[STEPS * s.item + s.step];
            return abi.encodeCall(game.reveal, (_states[id], HashedSteps.chunkOf(value, s.index)));
        }
        (bytes32[] memory children, bytes32[] memory siblings) = _expansionOf(s, run);
        return _expandCall(id, children, siblings);
    }

    function _expandCall(
        GameId id,
        bytes32[] memory children,
        bytes32[] memory siblings
    ) private view returns (bytes memory) {
        Claim memory claim = _claims[_claimOf[id]];
        bytes32 content = keccak256(abi.encode(market.jobIdOf(claim.job), claim.root, claim.collateral));
        return abi.encodeCall(game.expand, (_states[id], content, abi.encodePacked(children), siblings));
    }

    function _isOver(GameId id) internal view returns (uint256) {
        return uint256(game.stateHash(id)) <= 1 ? 1 : 0;
    }

    /// @dev What was expanded is not expanded again: with the same bytes, as the state before.
    function _expandAgain(GameId id, Run memory run, address worker) private {
        (bytes32[] memory children, bytes32[] memory siblings) = _expansionOf(this.unpack(_before[id]), run);
        _revertsBy(worker, _expandCall(id, children, siblings), "a list is shown twice");
        PackedState memory now_ = _states[id];
        _states[id] = _before[id];
        bytes memory call = _expandCall(id, children, siblings);
        _states[id] = now_;
        _revertsBy(worker, call, "an older state is expanded");
    }

    /// @dev Of an honest claim: the right proof of an element that is right, and proofs with another root of one of the
    /// step's inputs.
    function _forge(Forging memory f) private {
        _refusesProof(f, _proven(f), "what is right is proved wrong");
        _forgeRoots(f);
        if (f.s.step == 0) _forgeItem(f);
        if (f.s.step == 2 && f.run.carries && f.s.item != 0) _forgeCarried(f);
    }

    function _forgeRoots(Forging memory f) private {
        uint256 count = _proven(f).inputs.length;
        for (uint256 i = 0; i < count; ++i) {
            // What the index is, no proof says.
            if (f.s.step == 0 && i == 1) continue;
            StepProof memory proof = _proven(f);
            proof.inputs[i].root = ~proof.inputs[i].root;
            _refusesProof(f, proof, "a step reads what nobody has");
        }
    }

    function _forgeItem(Forging memory f) private {
        uint256 other = f.s.item == 0 ? f.run.items - 1 : 0;
        if (other == f.s.item) return;
        StepProof memory proof = _proven(f);
        proof.inputs[0] = _ofJob(f.run, EACH, other);
        _refusesProof(f, proof, "an item reads another's input");
    }

    /// @dev State that is carried: from the beginning, from the item itself, from an item that the worker has not.
    function _forgeCarried(Forging memory f) private {
        StepProof memory proof = _proven(f);
        proof.inputs[1] = _ofJob(f.run, CARRIED, 0);
        _refusesProof(f, proof, "an item reads the state that the first one has");
        (proof.previous, proof.previousSiblings) = (0, new bytes32[](0));
        _refusesProof(f, proof, "an item reads the job's state");
        proof = _proven(f);
        _carry(proof, f.run, f.s.item + 1, 1);
        _refusesProof(f, proof, "an item reads its own state");
        proof = _proven(f);
        _carry(proof, _execute(true, f.run.items, STEPS * f.s.item), f.s.item, 1);
        _refusesProof(f, proof, "an item reads what the worker has not");
        if (f.s.item < 2) return;
        proof = _proven(f);
        _carry(proof, f.run, f.s.item - 1, 1);
        _refusesProof(f, proof, "an item reads the state of an older one");
    }

    /// @dev The right proof, made anew.
    function _proven(Forging memory f) private pure returns (StepProof memory) {
        return _proofOf(f.s, f.run, f.bits);
    }

    function _refusesProof(Forging memory f, StepProof memory proof, string memory what) private {
        bytes memory call = abi.encodeCall(game.prove, (_states[f.id], _claims[_claimOf[f.id]], proof));
        _revertsBy(f.s.challenger, call, what);
    }

    function _revertsBy(address by, bytes memory call, string memory what) private {
        _prankAs(by);
        _revertsAt(address(game), call, what);
    }

    function _revertsAt(address to, bytes memory call, string memory what) internal {
        (bool succeeded, ) = to.call(call);
        if (!succeeded) return;
        ++trespasses;
        trespass = what;
    }
}
