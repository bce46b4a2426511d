// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimStatus, Delivery, InputPart, JobRequest, JobStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {GameState, Level, PackedState, Pick, Side, StepProof} from "../../../contracts/types/GameState.sol";
import {GameId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {HashedSteps, Lists} from "./RunLists.t.sol";
import {RunTrespasses} from "./RunTrespasses.t.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Runs and answers at random: honest ones and lies, each in a dispute that both sides play as far as they can,
/// and at every state what nobody may.
contract RunHandler is RunTrespasses {
    using Lists for bytes32[];

    uint256 private constant MAX_ITEMS = 5;
    /// @dev No game has as many moves.
    uint256 private constant MOST_MOVES = 16;
    uint8 private constant CARRIES = 1;
    uint8 private constant ANSWERS = 2;
    uint8 private constant IN_PARTS = 4;

    /// @notice Moves that a side had to have and could not make, or that the other side was not asked for.
    uint256 public stuck;
    /// @notice Honest claims that died by a proof, and lies that did.
    uint256 public honestDied;
    uint256 public refuted;
    /// @notice Posts, submissions and readings of right outputs that were refused or said something else.
    uint256 public refusals;
    /// @notice Outputs of final claims that were read.
    uint256 public outputsRead;

    uint256 private _salt;

    /* ---- Calls ---- */

    /// @notice A job, and a claim of it. @param lie 0: honest. Else the value that is wrong.
    function launch(uint8 who, uint8 kind, uint8 items, uint8 lie) public {
        uint256 count = 1 + (items % MAX_ITEMS);
        Job memory job = _postRun(kind, count);
        address worker = actors[who % 2];
        _stakeMore(worker);
        _prankAs(worker);
        market.claim(job);
        uint256 lieAt = lie % (STEPS * count + 1);
        bytes32[] memory leaves = _claimed(_execute(kind & CARRIES != 0, count, lieAt), job);
        _refuseOtherLists(job, leaves, worker);
        _prankAs(worker);
        market.submit(job, abi.encodePacked(leaves.padded()));
        _lieAt[_claims.length] = lieAt;
        _claims.push(Claim(job, worker, leaves.root(), _parameters().collateral));
    }

    /// @notice A game at the root, or at a leaf, where lies and what follows from them show.
    function openRun(uint8 who, uint8 which, uint8 bits) public {
        uint256 c = which % _claims.length;
        (Run memory run, Run memory honest) = _runsOf(c);
        GameState memory s = _startOf(_claims[c].job);
        Pick memory pick;
        uint256 leaf = _targetOf(s, run, honest, bits);
        if (s.level == Level.Answer || bits & 1 == 1) pick = _pickAt(s, run, leaf);
        else pick.node = _claims[c].root;
        vm.recordLogs();
        _prankAs(actors[2 + (who % 2)]);
        GameId id = game.open(_claims[c], uint32(_games.length), pick);
        _games.push(id);
        _claimOf[id] = c;
        _take(id);
    }

    /// @notice One move, or the proof.
    function playRun(uint8 which, uint8 bits) public {
        GameId id = _games[which % _games.length];
        uint256 c = _claimOf[id];
        (Run memory run, Run memory honest) = _runsOf(c);
        GameState memory s = this.unpack(_states[id]);
        vm.recordLogs();
        if (s.turn == Side.Worker) {
            bytes memory call = _workersCall(id, s, run);
            _prankAs(_claims[c].worker);
            _must(call);
        } else if (s.depth != 0) {
            Pick memory pick = _pickAt(s, run, _targetOf(s, run, honest, bits));
            _prankAs(s.challenger);
            game.pick(_states[id], pick);
        } else {
            StepProof memory proof = _proofOf(s, run, bits);
            _prankAs(s.challenger);
            game.prove(_states[id], _claims[c], proof);
            if (_lieAt[c] == 0) ++honestDied;
            else ++refuted;
            return;
        }
        _take(id);
    }

    /// @notice All that is left of a game, with what nobody may tried at each state. Of an honest claim the challenger
    /// gives up where it would have to prove.
    function playOut(uint8 which, uint8 bits) public {
        uint8 g = uint8(which % _games.length);
        GameId id = _games[g];
        for (uint256 i = 0; i < MOST_MOVES && _isOver(id) == 0; ++i) {
            this.intrudeRun(g, bits);
            (, bool dead, , ) = game.claimGames(_claimId(_claims[_claimOf[id]]));
            if (dead) return;
            GameState memory s = this.unpack(_states[id]);
            bool proves = s.turn == Side.Challenger && s.depth == 0;
            if (proves && _lieAt[_claimOf[id]] == 0) {
                _concede(id, s);
                return;
            }
            uint256 left = s.turn == Side.Worker ? s.workerSeconds : s.challengerSeconds;
            if (_now > s.since + left) return;
            try this.playRun(g, bits) {} catch {
                ++stuck;
                return;
            }
        }
        if (_isOver(id) == 0) ++stuck;
    }

    /// @notice A whole dispute, so that random sequences get there.
    function dispute(uint8 kind, uint8 items, uint8 lie, uint8 bits) external {
        launch(bits, kind, items, lie);
        openRun(bits / 2, uint8(_claims.length - 1), bits);
        playOut(uint8(_games.length - 1), bits);
    }

    /// @notice An honest claim that becomes final, and all its outputs.
    function serve(uint8 kind, uint8 items, uint8 bits) external {
        launch(bits, kind, items, 0);
        wait(1_802);
        market.finalise(_claims[_claims.length - 1]);
        readOutputs(uint8(_claims.length - 1));
    }

    /// @notice Up to where the worker has to expand something.
    function playToExpansion(uint8 which) external {
        while (true) {
            GameState memory s = this.unpack(_states[_games[which]]);
            if (s.turn == Side.Worker && s.depth == 0 && s.level != Level.Tensor) return;
            playRun(which, 0);
        }
    }

    function wait(uint16 secondsOn) public {
        _now += secondsOn % 7_200;
        vm.warp(_now);
    }

    /// @notice Reads each output of each item of a final claim, and tries to read what it is not.
    function readOutputs(uint8 which) public {
        uint256 c = which % _claims.length;
        (ClaimStatus status, , , , ) = market.claimOf(_key(_claims[c]));
        if (status != ClaimStatus.Finalised) return;
        Claim memory claim = _claims[c];
        (Run memory run, ) = _runsOf(c);
        uint256 last = run.items - 1;
        for (uint256 item = 0; item < run.items; ++item) {
            for (uint256 k = 0; k < 2; ++k) {
                bytes32[] memory path = _outputPath(run, claim.job, item, k);
                Delivery memory right = Delivery(_program(run.carries), uint32(k), _outputData(run, item, k), path);
                if (item == last || (k == 0 && !run.carries)) {
                    try market.requireOutput(claim, item, right) {
                        ++outputsRead;
                    } catch {
                        ++refusals;
                    }
                } else {
                    _mustNot(market.requireOutput.selector, claim, item, right, "an output that its item has not");
                }
                uint256 other = item == 0 ? last : item - 1;
                if (other != item)
                    _mustNot(market.requireOutput.selector, claim, other, right, "another item's output");
                right.data = _outputData(run, item, 1 - k);
                _mustNot(market.requireOutput.selector, claim, item, right, "an output that is another");
            }
        }
    }

    /// @notice What no requester may ask for.
    function askTooMuch(uint8 items) external {
        JobRequest memory r = _request(true, 2 + (items % 3), true);
        r.program = _programOf(true, true);
        _refuses(r, "an answer about items that carry state");
        r = _request(false, 1, false);
        (r.items, r.rootOnly, r.inputs, r.inputRoots[EACH]) = (0, true, new bytes[](0), 0);
        _refuses(r, "a run of no items");
        r.items = 65_537;
        _refuses(r, "a run of more items than a game has levels for");
        // The work of all items is what a window must hold.
        (r.items, r.window) = (60_000, 1_801);
        _refuses(r, "a window for one item of many");
        r = _request(false, 2, false);
        r.inputs[EACH] = abi.encodePacked(r.inputs[SHARED], r.inputs[SHARED]);
        _refuses(r, "inputs that are not those of the list");
    }

    /* ---- Helpers ---- */

    /// @dev A job of `count` items, as the bits of `kind` say.
    function _postRun(uint8 kind, uint256 count) private returns (Job memory job) {
        bool carries = kind & CARRIES != 0;
        JobRequest memory request = _request(carries, count, kind & ANSWERS != 0);
        ProgramFacts memory program_ = request.program;
        if (kind & IN_PARTS != 0) request.inputs = new bytes[](0);
        job = _posted(actors[4], request);
        _checkJob(job, carries, count, kind & ANSWERS != 0);
        if (kind & IN_PARTS != 0) _publish(job, program_, count, carries);
    }

    function _request(bool carries, uint256 items, bool answer) private view returns (JobRequest memory r) {
        r.program = _program(carries);
        r.inputRoots = _inputRoots(carries, items);
        r.inputs = new bytes[](r.inputRoots.length);
        for (uint256 i = 0; i < r.inputs.length; ++i) if (i != INDEX) r.inputs[i] = _inputBytes(i, items);
        (r.items, r.firstItem, r.answer) = (uint32(items), FIRST_ITEM, answer);
        (r.window, r.claimSeconds, r.deadline) = (1_801, 3_600, uint64(_now + 30_000));
        (r.maxOutputBytes, r.salt) = (2_048, bytes32(_salt + 1));
    }

    function _inputBytes(uint256 input, uint256 items) private pure returns (bytes memory data) {
        for (uint256 i = 0; i < (input == EACH ? items : 1); ++i) {
            data = bytes.concat(data, HashedSteps.bytesOf(_inputValue(input, i)));
        }
    }

    /// @dev What a claim takes, so that a worker has enough whatever it lost.
    function _stakeMore(address worker) private {
        token.mint(worker, _parameters().collateral);
        _prankAs(worker);
        vault.deposit(worker, _parameters().collateral);
        _prankAs(worker);
        vault.stake(_parameters().collateral);
    }

    function _checkJob(Job memory job, bool carries, uint256 items, bool answer) private {
        ++_salt;
        bool right = job.items == items && job.work == items * (WORK + 20_000) && job.firstItem == FIRST_ITEM;
        right = right && job.answers == (answer ? 2 : 0) && job.deliverables == (carries ? 3 : 2);
        if (!right || job.checkpoints != 2) ++refusals;
    }

    /// @dev Part by part, with bytes of other items tried first.
    function _publish(Job memory job, ProgramFacts memory program_, uint256 items, bool carries) private {
        for (uint256 input = 0; input < (carries ? 4 : 3); ++input) {
            if (input == INDEX) continue;
            for (uint256 i = 0; i < (input == EACH ? items : 1); ++i) {
                InputPart memory part;
                (part.input, part.part) = (uint32(input), uint32(i));
                part.data = HashedSteps.bytesOf(_inputValue(input, i) + 1);
                part.inputRoot = HashedSteps.rootOf(_inputValue(input, i) + 1);
                part.inputSiblings = _inputPath(carries, items, input, i);
                _refusesPart(job, program_, part, "bytes that are not the input's");
                part.data = HashedSteps.bytesOf(_inputValue(input, i));
                part.inputRoot = HashedSteps.rootOf(_inputValue(input, i));
                market.publishInput(job, program_, part);
                _refusesPart(job, program_, part, "a part is published twice");
            }
        }
    }

    function _refusesPart(Job memory job, ProgramFacts memory p, InputPart memory part, string memory what) private {
        _revertsAt(address(market), abi.encodeCall(market.publishInput, (job, p, part)), what);
    }

    /// @dev With too few nodes, with too many, and with something behind the last.
    function _refuseOtherLists(Job memory job, bytes32[] memory leaves, address worker) private {
        bytes32[] memory all = leaves.padded();
        if (all.length > 1) {
            bytes32[] memory half = new bytes32[](all.length / 2);
            for (uint256 i = 0; i < half.length; ++i) half[i] = all[i];
            _refusesNodes(job, half, worker, "a list of too few items");
        }
        _refusesNodes(job, all.join(new bytes32[](all.length)), worker, "a list of too many items");
        if (leaves.length == all.length) return;
        all[leaves.length] = bytes32(uint256(1));
        _refusesNodes(job, all, worker, "a list with something behind its last item");
    }

    function _refusesNodes(Job memory job, bytes32[] memory nodes, address worker, string memory what) private {
        bytes memory call = abi.encodeCall(market.submit, (job, abi.encodePacked(nodes)));
        _prankAs(worker);
        _revertsAt(address(market), call, what);
    }

    function _startOf(Job memory job) private pure returns (GameState memory s) {
        s.level =
            job.answers != 0
                ? Level.Answer
                : job.items == 1
                    ? Level.Trace
                    : Level.Run;
    }

    /// @dev The first leaf that is wrong; else any.
    function _targetOf(
        GameState memory s,
        Run memory run,
        Run memory honest,
        uint8 bits
    ) private pure returns (uint256 leaf) {
        bytes32[] memory theirs = _listOf(s, run);
        bytes32[] memory right = _listOf(s, honest);
        // Where the last item's output of an answer is wrong, that is another way to begin.
        if (s.level == Level.Answer && bits & 2 != 0 && theirs[1] != right[1]) return 1;
        while (leaf < theirs.length && theirs[leaf] == right[leaf]) ++leaf;
        return leaf == theirs.length ? bits % leaf : leaf;
    }

    function _concede(GameId id, GameState memory s) private {
        ClaimKey memory key = _key(_claims[_claimOf[id]]);
        _prankAs(s.challenger);
        game.concede(_states[id], key);
    }

    function _take(GameId id) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(game) || logs[i].topics[1] != GameId.unwrap(id)) continue;
            _before[id] = _states[id];
            (bytes32 topic, bytes memory data) = (logs[i].topics[0], logs[i].data);
            Side next = topic == IDisputeGame.Picked.selector ? Side.Worker : Side.Challenger;
            if (next == Side.Worker) _states[id] = abi.decode(data, (PackedState));
            else if (topic == IDisputeGame.Moved.selector) (_states[id], ) = abi.decode(data, (PackedState, bytes));
            else continue;
            // A side that moved and keeps the turn has taken the other's move.
            if (this.unpack(_states[id]).turn != next) ++stuck;
        }
    }

    function _must(bytes memory call) private {
        (bool succeeded, ) = address(game).call(call);
        require(succeeded, "a worker has no move");
    }

    function _refuses(JobRequest memory request, string memory what) private {
        _revertsAt(address(market), abi.encodeCall(market.post, (request)), what);
    }

    function _mustNot(
        bytes4 selector,
        Claim memory claim,
        uint256 item,
        Delivery memory delivery,
        string memory what
    ) private {
        _revertsAt(address(market), abi.encodeWithSelector(selector, claim, item, delivery), what);
    }
}
