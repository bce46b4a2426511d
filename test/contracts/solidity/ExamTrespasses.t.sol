// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExamReport, ExamResult} from "../../../contracts/interfaces/IExams.sol";
import {PledgeStatus} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {Signature} from "../../../contracts/interfaces/IProvisioning.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {PledgedEntry} from "../../../contracts/types/SignedClaim.sol";
import {ExamWorld} from "./ExamWorld.t.sol";

/// @notice What nobody may do with exams and their claims: each such call must revert.
abstract contract ExamTrespasses is ExamWorld {
    /// @notice Calls that nobody may make and that were taken, and the last of them.
    uint256 public trespasses;
    string public trespassed;

    /// @notice An actor, or a contract of the deployment that is not the one that may, tries what only one may.
    function trespass(uint8 who, uint8 which, uint8 what) external {
        address by =
            who % 7 < 5
                ? actors[who % 7]
                : who % 7 == 5
                    ? address(exams)
                    : address(vault);
        uint256 c = _claims.length == 0 ? 0 : which % _claims.length;
        bytes memory call;
        if (what % 5 == 0) call = abi.encodeCall(claims.pay, (by, 1));
        else if (what % 5 == 1) call = abi.encodeCall(claims.enter, (_forged(by), ""));
        else if (_claims.length == 0) return;
        else if (what % 5 == 2) call = abi.encodeCall(claims.refuted, (_claimKey(c), _idOfClaim(c)));
        else if (what % 5 == 3) call = abi.encodeCall(claims.gameOpened, (_claimKey(c).jobId, _idOfClaim(c), by, 1));
        else call = abi.encodeCall(claims.sweep, (by));
        // A sweep is anybody's, once it is due: what it may not is take from who was not stopped.
        if (what % 5 == 4 && _pledgeOf(by) == PledgeStatus.Stopped) return;
        _prankAs(by);
        (bool taken, ) = address(claims).call(call);
        if (taken) _trespassed("claims are entered, refuted, paid or swept by who may not");
    }

    /// @notice A result that is another's, or changed, is not taken.
    function forgeResult(uint8 by, uint8 which, uint8 field) external {
        ExamResult memory s = _results[which % _results.length];
        ProgramFacts memory facts = program();
        if (field % 7 == 0) s.worker = s.worker == actors[0] ? actors[1] : actors[0];
        else if (field % 7 == 1) s.traceRoot = tensorRoot(s.traceRoot != tensorRoot(true));
        else if (field % 7 == 2) s.nonce = ~s.nonce;
        else if (field % 7 == 3) --s.time;
        else if (field % 7 == 4) ++s.number;
        else if (field % 7 == 5) s.class ^= 1;
        else facts.stepsRoot = ~facts.stepsRoot;
        // What is changed may be what another result is.
        for (uint256 i = 0; field % 7 != 6 && i < _results.length; ++i)
            if (keccak256(abi.encode(_results[i])) == keccak256(abi.encode(s))) return;
        bytes memory call = abi.encodeCall(examClaims.challenge, (s, facts));
        _prankAs(actors[by % 5]);
        (bool taken, ) = address(examClaims).call(call);
        if (taken) _trespassed("a result is taken that was not sat, or by another program");
    }

    /// @notice A report that no exam takes: with another's device, an old counter, another's signature, or debugging.
    function sitWrongly(uint8 who, uint8 class, uint8 how) external {
        address worker = actors[who % 5];
        uint256 device = (_deviceOf(worker) + (how % 4 == 0 ? 1 : 0)) % DEVICES;
        ExamReport memory r = _reportOf(device, class % CLASSES, false);
        if (how % 4 == 1) r.seq = 0;
        if (how % 4 == 3) r.debugStatus = 0;
        uint256 signer = how % 4 == 2 ? (device + 1) % DEVICES : device;
        Signature memory signature = _sign(_keys[signer], exams.examDigest(worker, r));
        _prankAs(worker);
        (bool taken, ) = address(exams).call(abi.encodeCall(exams.sit, (r, signature)));
        if (taken) _trespassed("a report is taken that is not its worker's, new, signed and of a closed device");
    }

    /// @notice Blocks pass, of which the last is no exam if it is too near to one.
    function passBlocks(uint8 blocks) public {
        _height += blocks;
        _nextBlock();
        (uint32 number, uint64 last) = exams.lastExam();
        uint256 newest = _height - 1;
        if (number == 0 || newest == last || newest >= last + SPACING) return;
        (bool taken, ) = address(exams).call(abi.encodeCall(exams.numberExam, (uint64(newest))));
        if (taken) _trespassed("an exam is too near to the last one");
    }

    /// @notice Enrols a worker that has no pledge, or whose pledge is enrolled.
    function enrolWrongly(uint8 who, uint8 by) external {
        address worker = actors[who % 5];
        (PledgeStatus status, uint256 since, , ) = claims.pledgeOf(worker);
        if (status == PledgeStatus.Active && examClaims.enrolmentOf(worker).pledged != since) return;
        _prankAs(actors[by % 5]);
        (bool taken, ) = address(examClaims).call(abi.encodeCall(examClaims.enrol, (worker)));
        if (taken) _trespassed("a worker is enrolled twice, or without a pledge");
    }

    /// @dev Whether the last exam is open for a worker, by what was done.
    function _maySit(address worker, uint8 class) internal view returns (bool) {
        if (_height > _examBlock + (class == 0 ? BLOCKS : SPACING)) return false;
        return _satLast[_idOf(_deviceOf(worker))][class] != keccak256(abi.encode(worker, _examBlock));
    }

    function _trespassed(string memory what) internal {
        ++trespasses;
        trespassed = what;
    }

    function _forged(address worker) private view returns (PledgedEntry memory entry) {
        entry.program = program();
        entry.inputRoots = new bytes32[](1);
        entry.items = 1;
        entry.worker = worker;
        entry.root = tensorRoot(false);
        entry.issued = uint64(_now);
    }
}
