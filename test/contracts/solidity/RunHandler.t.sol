// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimStatus, Delivery, InputPart, JobRequest, JobStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {GameState, Level, Move, PackedState, Pick, Side, StepProof} from "../../../contracts/types/GameState.sol";
import {Claim, ClaimKey, Job} from "../../../contracts/types/Job.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {HashedSteps, Lists} from "./RunLists.t.sol";
import {RunWorld} from "./RunWorld.t.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Runs and answers at random: honest ones and lies, each in a dispute that both sides play as far as they can,
/// and at every state what nobody may.
contract RunHandler is RunWorld {
    using Lists for bytes32[];

    /// @dev A game in a chunk, and what draws an element of it.
    struct Forging {
        bytes32 id;
        GameState s;
        Run run;
        uint8 bits;
    }

    uint256 private constant MAX_ITEMS = 5;
    /// @dev No game has as many moves.
    uint256 private constant MOST_MOVES = 16;
    uint8 private constant CARRIES = 1;
    uint8 private constant ANSWERS = 2;
    uint8 private constant IN_PARTS = 4;

    /// @notice Moves that a side had to have and could not make.
    uint256 public stuck;
    /// @notice Honest claims that died by a proof, and lies that did.
    uint256 public honestDied;
    uint256 public refuted;
    /// @notice Posts, submissions and readings of right outputs that were refused or said something else.
    uint256 public refusals;
    /// @notice Calls that should have reverted, and the last of them.
    uint256 public trespasses;
    string public trespass;
    /// @notice Outputs of final claims that were read.
    uint256 public outputsRead;

    mapping(uint256 claim => uint256) private _lieAt;
    uint256 private _salt;

    /* ---- Calls ---- */

    /// @notice A job, and a claim of it. @param lie 0: honest. Else the value that is wrong.
    function launch(uint8 who, uint8 kind, uint8 items, uint8 lie) public {
        uint256 count = 1 + (items % MAX_ITEMS);
        bool carries = kind & CARRIES != 0;
        JobRequest memory request = _request(carries, count, kind & ANSWERS != 0);
        ProgramFacts memory program_ = request.program;
        if (kind & IN_PARTS != 0) request.inputs = new bytes[](0);
        Job memory job = _posted(actors[4], request);
        _checkJob(job, carries, count, kind & ANSWERS != 0);
        if (kind & IN_PARTS != 0) _publish(job, program_, count, carries);
        _stakeMore(actors[who % 2]);
        _prankAs(actors[who % 2]);
        market.claim(job);
        uint256 lieAt = lie % (STEPS * count + 1);
        Run memory run = _execute(carries, count, lieAt);
        bytes32[] memory leaves = _claimed(run, job);
        _refuseOtherLists(job, leaves, actors[who % 2]);
        _prankAs(actors[who % 2]);
        market.submit(job, abi.encodePacked(leaves.padded()));
        _lieAt[_claims.length] = lieAt;
        _claims.push(Claim(job, actors[who % 2], leaves.root(), _parameters().collateral));
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
        bytes32 id = game.open(_claims[c], uint32(_games.length), pick);
        _games.push(id);
        _claimOf[id] = c;
        _take(id);
    }

    /// @notice One move, or the proof.
    function playRun(uint8 which, uint8 bits) public {
        bytes32 id = _games[which % _games.length];
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
        bytes32 id = _games[g];
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

    /// @notice What nobody may at the state of a game.
    function intrudeRun(uint8 which, uint8 bits) public {
        bytes32 id = _games[which % _games.length];
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

    function _runsOf(uint256 c) private view returns (Run memory run, Run memory honest) {
        Job memory job = _claims[c].job;
        bool carries = job.programRoot != _rootOf(false);
        honest = _execute(carries, job.items, 0);
        run = _lieAt[c] == 0 ? honest : _execute(carries, job.items, _lieAt[c]);
    }

    function _rootOf(bool carries) private pure returns (bytes32) {
        ProgramFacts memory p = _program(carries);
        return sha256(abi.encodePacked(bytes1(0), p.header, p.stepsRoot, p.checkpointsRoot));
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

    function _workersCall(bytes32 id, GameState memory s, Run memory run) private view returns (bytes memory) {
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
        bytes32 id,
        bytes32[] memory children,
        bytes32[] memory siblings
    ) private view returns (bytes memory) {
        Claim memory claim = _claims[_claimOf[id]];
        bytes32 content = keccak256(abi.encode(market.jobIdOf(claim.job), claim.root, claim.collateral));
        return abi.encodeCall(game.expand, (_states[id], content, abi.encodePacked(children), siblings));
    }

    /// @dev What was expanded is not expanded again: with the same bytes, as the state before.
    function _expandAgain(bytes32 id, Run memory run, address worker) private {
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

    function _concede(bytes32 id, GameState memory s) private {
        ClaimKey memory key = _key(_claims[_claimOf[id]]);
        _prankAs(s.challenger);
        game.concede(_states[id], key);
    }

    function _isOver(bytes32 id) private view returns (uint256) {
        return uint256(game.stateHash(id)) <= 1 ? 1 : 0;
    }

    function _take(bytes32 id) private {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].emitter != address(game) || logs[i].topics[1] != id) continue;
            _before[id] = _states[id];
            (bytes32 topic, bytes memory data) = (logs[i].topics[0], logs[i].data);
            if (topic == IDisputeGame.Picked.selector) _states[id] = abi.decode(data, (PackedState));
            else if (topic == IDisputeGame.Moved.selector) (_states[id], ) = abi.decode(data, (PackedState, bytes));
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

    function _revertsBy(address by, bytes memory call, string memory what) private {
        _prankAs(by);
        _revertsAt(address(game), call, what);
    }

    function _revertsAt(address to, bytes memory call, string memory what) private {
        (bool succeeded, ) = to.call(call);
        if (!succeeded) return;
        ++trespasses;
        trespass = what;
    }
}
