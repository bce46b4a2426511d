// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ClaimStatus, JobStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {ClaimId} from "../../../contracts/types/Ids.sol";
import {Claim, Job} from "../../../contracts/types/Job.sol";
import {Terms} from "../../../contracts/types/Terms.sol";
import {ProtocolHandler} from "./ProtocolHandler.t.sol";
import {vm} from "./Vm.sol";

// What terms ask, in the bits of a number.
uint8 constant SEALED = 1;
uint8 constant EARLY = 2;
uint8 constant RESERVED = 4;
uint8 constant GROUP = 8;
uint8 constant RECORD = 16;
uint8 constant MORE = 32;

/// @notice As ProtocolHandler, with jobs that have terms, and what nobody may do with them: each such call must revert.
abstract contract TermsHandler is ProtocolHandler {
    /// @dev Seconds between the deadline of a sealed job and its opening.
    uint256 private constant QUIET = 600;

    /// @notice Calls that should have reverted, and the last of them.
    uint256 public trespasses;
    string public trespass;

    function postOnTerms(uint8 who, uint64 fee, bool undelivered, uint8 what) public {
        uint256 deadline = _now + (what & SEALED == 0 ? 30_000 : 7_200);
        Terms[] memory terms = new Terms[](1);
        Terms memory t = terms[0];
        t.collateral = _parameters().collateral + (what & MORE == 0 ? 0 : 0.3 ether);
        if (what & SEALED != 0) t.openFrom = uint40(deadline + QUIET);
        t.earlyAccept = what & EARLY != 0;
        if (what & RESERVED != 0) t.reservedFor = actors[fee % 5];
        if (what & GROUP != 0) t.group = bytes32(uint256(1));
        (t.maxRefuted, t.maxLate) = what & RECORD == 0 ? (type(uint16).max, type(uint16).max) : (0, 0);
        _post(actors[who % 5], fee, undelivered ? 0 : 2_048, 0, deadline, terms);
    }

    /// @notice Claims and submits in one call a job that is reserved.
    function claimAndSubmit(uint8 which, bool lie) external {
        uint256 j = which % _jobs.length;
        address worker = _termsOf[j].reservedFor;
        bytes memory call = abi.encodeCall(market.claimAndSubmit, (_jobs[j], _termsOf[j], nodesOf(_jobs[j], lie)));
        _prankAs(worker);
        _noteClaim(j, abi.decode(_call(address(market), call), (ClaimId)), worker, lie);
        _tookOfGroup[_groupKey(j, worker)] = true;
    }

    function openSeal(uint8 which, uint8 who) public {
        uint256 j = which % _jobs.length;
        Seal memory s = _seals[j];
        bytes memory call = _openSealCall(j, s.worker, s.lie, s.salt);
        _prankAs(actors[who % 5]);
        _noteClaim(j, abi.decode(_call(address(market), call), (ClaimId)), s.worker, s.lie);
        delete _seals[j];
    }

    /// @notice The worker loses all that is locked, the requester has the fee again, the caller its gas.
    function breakSeal(uint8 which, uint8 who) public {
        uint256 j = which % _jobs.length;
        Seal memory s = _seals[j];
        (address by, address requester) = (actors[who % 5], _jobs[j].requester);
        bytes memory call = _breakSealCall(j, s.worker, s.lie);
        uint256 reward = by == s.worker ? 0 : EXPIRE * _price(block.basefee, _parameters().priceCap);
        uint256[4] memory then = [_creditOf(by), _creditOf(requester), _creditOf(SINK), _stakeOf(s.worker)];
        _prankAs(by);
        _call(address(market), call);
        then[0] += reward + (by == requester ? _jobs[j].fee : 0);
        then[1] += _jobs[j].fee + (by == requester ? reward : 0);
        then[2] += _collateralOf(j) - reward;
        then[3] -= _collateralOf(j);
        if (_creditOf(by) != then[0] || _creditOf(requester) != then[1]) ++wrongEnds;
        if (_creditOf(SINK) != then[2] || _stakeOf(s.worker) != then[3]) ++wrongEnds;
        ++_lates[s.worker];
        delete _seals[j];
    }

    /// @notice The requester takes a claim in its window: it is paid, and its collateral is free.
    function acceptEarly(uint8 which) public {
        uint256 c = which % _claims.length;
        Claim memory claim = _claims[c];
        uint256 credit = _creditOf(claim.worker);
        (, , uint256 locked, , ) = vault.accountOf(claim.worker);
        _prankAs(claim.job.requester);
        market.acceptEarly(claim, _termsOf[_jobOf[c]]);
        (, , uint256 left, , ) = vault.accountOf(claim.worker);
        if (_creditOf(claim.worker) != credit + claim.job.fee || left + claim.collateral != locked) ++wrongEnds;
        (_isAccepted[c], _isPaid[c]) = (true, true);
    }

    /// @notice A sealed job up to its opening, so that random sequences get there.
    /// @param late Nobody opens it in time.
    function sealedLife(uint8 who, uint64 fee, bool lie, bool late) public {
        postOnTerms(who, fee, who % 2 == 0, SEALED | (who & MORE));
        uint8 j = uint8(_jobs.length - 1);
        claimJob(who / 2, j);
        submitJob(j, lie);
        _now = _termsOf[j].openFrom + (late ? CLOCK + 1 : 0);
        vm.warp(_now);
        if (late) breakSeal(j, who / 4);
        else openSeal(j, who / 4);
    }

    /// @notice A claim that its requester takes early, likewise.
    function earlyLife(uint8 who, uint64 fee, bool lie) external {
        postOnTerms(who, fee, who % 2 == 0, EARLY | (who & MORE));
        uint8 j = uint8(_jobs.length - 1);
        claimJob(who / 2, j);
        submitJob(j, lie);
        if (who % 4 != 0) acceptEarly(uint8(_claims.length - 1));
    }

    /// @dev On a job with terms: claims of workers that do not keep them, by other terms or without; seals of others,
    /// opened too early, too late or to something else.
    function _squatOnTerms(uint256 j, address stranger, JobStatus status, address worker) internal {
        Job memory job = _jobs[j];
        Terms memory t = _termsOf[j];
        bytes memory nodes = nodesOf(job, true);
        _revertsBy(stranger, abi.encodeCall(market.claim, (job)), "a job with terms is claimed without");
        if (stranger != t.reservedFor) {
            bytes memory both = abi.encodeCall(market.claimAndSubmit, (job, t, nodes));
            _revertsBy(stranger, both, "a stranger claims and submits at once");
        }
        if (status == JobStatus.Open && !_fits(j, stranger)) {
            _revertsBy(stranger, _claimCall(j), "a worker claims that does not keep the terms");
        }
        if (status == JobStatus.Claimed) {
            _revertsBy(stranger, abi.encodeCall(market.expire, (job)), "a job with terms expires without");
            _revertsBy(worker, abi.encodeCall(market.submit, (job, nodes)), "a job with terms is submitted without");
            if (_isSealed(j)) {
                bytes memory plain = abi.encodeCall(market.submitOnTerms, (job, t, nodes));
                _revertsBy(worker, plain, "what is to be sealed is submitted for all to see");
            }
            if (stranger != worker) _revertsBy(stranger, _sealCall(j, stranger, true), "a stranger seals");
            if (_now > _until[j]) _revertsBy(worker, _sealCall(j, worker, true), "a seal comes too late");
        }
        if (status == JobStatus.Sealed) _pry(j, stranger);
        _useOtherTerms(j, t, stranger, status, worker);
    }

    /// @dev At a seal.
    function _pry(uint256 j, address stranger) private {
        Seal memory s = _seals[j];
        uint256 from = _termsOf[j].openFrom;
        bool may = _now >= from && _now <= from + CLOCK;
        bytes memory honest = _openSealCall(j, s.worker, s.lie, s.salt);
        if (!may) _revertsBy(s.worker, honest, "a seal is opened too early or too late");
        if (_now <= from + CLOCK) {
            _revertsBy(stranger, _breakSealCall(j, s.worker, s.lie), "a seal is broken that can be opened");
        }
        bytes memory other = _openSealCall(j, s.worker, !s.lie, s.salt);
        _revertsBy(stranger, other, "a seal is opened to something else");
        other = _openSealCall(j, s.worker, s.lie, ~s.salt);
        _revertsBy(stranger, other, "a seal is opened by another salt");
        _revertsBy(stranger, _sealCall(j, s.worker, !s.lie), "a seal is replaced");
        if (stranger == s.worker) return;
        _revertsBy(stranger, _openSealCall(j, stranger, s.lie, s.salt), "a seal is opened as a stranger's");
        _revertsBy(stranger, _breakSealCall(j, stranger, s.lie), "a stranger's seal is broken");
    }

    /// @dev Terms that are not those of the job.
    function _useOtherTerms(uint256 j, Terms memory t, address by, JobStatus status, address worker) private {
        Job memory job = _jobs[j];
        bytes memory nodes = nodesOf(job, false);
        (t.collateral, t.reservedFor, t.group) = (_parameters().collateral + 1, address(0), 0);
        (t.openFrom, t.earlyAccept) = (t.openFrom == 0 ? uint40(_now) : 0, !t.earlyAccept);
        if (status == JobStatus.Open) {
            _revertsBy(by, abi.encodeCall(market.claimOnTerms, (job, t)), "a job is claimed on other terms");
        } else if (status == JobStatus.Claimed) {
            bytes memory call = abi.encodeCall(market.submitOnTerms, (job, t, nodes));
            _revertsBy(worker, call, "a job is submitted on other terms");
            _revertsBy(by, abi.encodeCall(market.expireOnTerms, (job, t)), "a job expires on other terms");
        }
    }

    /// @dev On a claim: taken early by a stranger, without terms that allow it, while it is disputed, or after its end.
    function _meddleOnTerms(uint256 c, address stranger, ClaimStatus status, uint256 games) internal {
        Claim memory claim = _claims[c];
        Terms memory t = _termsOf[_jobOf[c]];
        address requester = claim.job.requester;
        bytes memory call = abi.encodeCall(market.acceptEarly, (claim, t));
        bool may = t.earlyAccept && status == ClaimStatus.Submitted && games == 0;
        if (!may) _revertsBy(requester, call, "a claim is taken early that may not be");
        if (stranger != requester) _revertsBy(stranger, call, "a stranger takes a claim early");
        if (status != ClaimStatus.Submitted || t.earlyAccept) return;
        t.earlyAccept = true;
        call = abi.encodeCall(market.acceptEarly, (claim, t));
        _revertsBy(requester, call, "a claim is taken early by other terms");
    }

    function _stakeOf(address account) private view returns (uint256 staked) {
        (, staked, , , ) = vault.accountOf(account);
    }

    function _revertsBy(address by, bytes memory call, string memory what) private {
        _mustRevert(by, address(market), call, what);
    }

    /// @dev A call in another's name that must revert.
    function _mustRevert(address by, address to, bytes memory call, string memory what) internal {
        _prankAs(by);
        _mustRevert(to, call, what);
    }

    function _mustRevert(address to, bytes memory call, string memory what) internal {
        (bool succeeded, ) = to.call(call);
        if (!succeeded) return;
        ++trespasses;
        trespass = what;
    }
}
