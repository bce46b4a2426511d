// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobRequest} from "../../../contracts/interfaces/IMarketEvents.sol";
import {ClaimId} from "../../../contracts/types/Ids.sol";
import {Claim, Job} from "../../../contracts/types/Job.sol";
import {Terms} from "../../../contracts/types/Terms.sol";
import {ProtocolModel} from "./ProtocolModel.t.sol";

/// @notice How a job comes to a worker, a claim and an end, with terms or without: what each call is, and what terms
/// ask, from what was done and not from what the contracts keep.
abstract contract ProtocolTerms is ProtocolModel {
    /// @dev A submission that nobody sees yet.
    struct Seal {
        address worker;
        bool lie;
        bytes32 salt;
    }

    /// @notice Ends of jobs with terms, and early acceptances, that paid something else than the rules say.
    uint256 public wrongEnds;

    mapping(uint256 job => Terms) internal _termsOf;
    /// @dev Of a job that is sealed; its worker is zero once it is opened or broken.
    mapping(uint256 job => Seal) internal _seals;
    /// @dev Whether a worker took a job of a requester's group.
    mapping(bytes32 key => bool) internal _tookOfGroup;
    mapping(address worker => uint256) internal _lates;
    uint256 private _salt;

    /// @param terms One entry or none.
    function _post(
        address requester,
        uint64 fee,
        uint32 maxOutputBytes,
        uint32 callbackGas,
        uint256 deadline,
        Terms[] memory terms
    ) internal {
        JobRequest memory request;
        request.program = program();
        request.items = 1;
        request.fee = fee % 1 ether;
        request.window = 1_800;
        request.claimSeconds = 3_600;
        request.deadline = uint64(deadline);
        request.maxOutputBytes = maxOutputBytes;
        request.callbackGas = callbackGas;
        request.salt = bytes32(++_salt);
        request.answer = _salt % 2 == 0;
        request.terms = terms;
        if (terms.length != 0) _termsOf[_jobs.length] = terms[0];
        _jobs.push(_posted(requester, request));
    }

    function _hasTerms(uint256 j) internal view returns (bool) {
        return _jobs[j].termsHash != 0;
    }

    function _isSealed(uint256 j) internal view returns (bool) {
        return _termsOf[j].openFrom != 0;
    }

    function _collateralOf(uint256 j) internal view returns (uint128) {
        return _hasTerms(j) ? _termsOf[j].collateral : _parameters().collateral;
    }

    /// @dev Whether a worker keeps what a job's terms ask.
    function _fits(uint256 j, address worker) internal view returns (bool) {
        Terms memory t = _termsOf[j];
        if (t.reservedFor != address(0) && t.reservedFor != worker) return false;
        if (t.group != 0 && _tookOfGroup[_groupKey(j, worker)]) return false;
        return !_hasTerms(j) || (_lates[worker] <= t.maxLate && _refutes[worker] <= t.maxRefuted);
    }

    function _groupKey(uint256 j, address worker) internal view returns (bytes32) {
        return keccak256(abi.encode(_jobs[j].requester, _termsOf[j].group, worker));
    }

    function _claimCall(uint256 j) internal view returns (bytes memory) {
        if (_hasTerms(j)) return abi.encodeCall(market.claimOnTerms, (_jobs[j], _termsOf[j]));
        return abi.encodeCall(market.claim, (_jobs[j]));
    }

    function _submitCall(uint256 j, bool lie) internal view returns (bytes memory) {
        bytes memory nodes = nodesOf(_jobs[j], lie);
        if (_hasTerms(j)) return abi.encodeCall(market.submitOnTerms, (_jobs[j], _termsOf[j], nodes));
        return abi.encodeCall(market.submit, (_jobs[j], nodes));
    }

    function _sealCall(uint256 j, address worker, bool lie) internal view returns (bytes memory) {
        return abi.encodeCall(market.seal, (_jobs[j], _termsOf[j], _sealOf(j, worker, lie, _saltOf(j))));
    }

    function _openSealCall(uint256 j, address worker, bool lie, bytes32 salt) internal view returns (bytes memory) {
        return abi.encodeCall(market.openSeal, (_jobs[j], _termsOf[j], worker, salt, nodesOf(_jobs[j], lie)));
    }

    function _breakSealCall(uint256 j, address worker, bool lie) internal view returns (bytes memory) {
        return abi.encodeCall(market.breakSeal, (_jobs[j], _termsOf[j], worker, _sealOf(j, worker, lie, _saltOf(j))));
    }

    function _expireCall(uint256 j, bool claimed) internal view returns (bytes memory) {
        if (claimed && _hasTerms(j)) return abi.encodeCall(market.expireOnTerms, (_jobs[j], _termsOf[j]));
        return abi.encodeCall(market.expire, (_jobs[j]));
    }

    function _saltOf(uint256 j) internal pure returns (bytes32) {
        return keccak256(abi.encode("salt", j));
    }

    function _sealOf(uint256 j, address worker, bool lie, bytes32 salt) private view returns (bytes32) {
        return keccak256(abi.encode(market.jobIdOf(_jobs[j]), worker, claimRoot(_jobs[j], lie), salt));
    }

    /// @dev Takes in a claim that was just made.
    function _noteClaim(uint256 j, ClaimId claimId, address worker, bool lie) internal {
        _lie[claimId] = lie;
        _windowEnd[_claims.length] = _now + _jobs[j].window;
        _jobOf[_claims.length] = j;
        _claims.push(Claim(_jobs[j], worker, claimRoot(_jobs[j], lie), _collateralOf(j)));
    }

    /// @dev A call that must succeed; it reverts with what that reverts with.
    function _call(address to, bytes memory data) internal returns (bytes memory result) {
        bool succeeded;
        (succeeded, result) = to.call(data);
        if (succeeded) return result;
        assembly ("memory-safe") {
            revert(add(result, 0x20), mload(result))
        }
    }
}
