// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ClaimId} from "../types/Ids.sol";
import {PledgedEntry} from "../types/SignedClaim.sol";
import {ClaimStatus, Deployment} from "./IMarketEvents.sol";
import {IClaimContract} from "./IClaimContract.sol";

/// @notice None: has not pledged. Active: backs claims. Releasing: backs claims issued before the release request.
/// Stopped: a claim was refuted, for good.
enum PledgeStatus {
    None,
    Active,
    Releasing,
    Stopped
}

/// @notice A contract that may put workers' claims on chain, because the contract checks that the claims bind the
/// workers.
/// @param account The contract.
/// @param lifetime Seconds after issue during which a claim can be put on chain.
struct Authoriser {
    address account;
    uint32 lifetime;
}

/// @title Claims that bind workers without a claimed job. Each consists of a job without a fee and a claim, in a window
/// like any other. One collateral per worker, the pledge, backs all the worker's claims.
/// @dev The contract acts as the market for its own vault and dispute game. Its events match the job market's, which
/// lets watchers and workers follow both alike. The first refuted claim takes the pledge and stops the worker:
/// afterwards none of the worker's claims is accepted or becomes final, and no game is opened. Open games go on: a
/// winner gets its bond back, and its dues from the rest of the pledge. Only contracts named at deployment put claims
/// on chain. A worker's attestation is read at the pledge, and never when a claim is put on chain.
interface IPledgedClaims is IClaimContract {
    error NotAuthorised(address caller);
    error AuthoriserTwice(address account);
    error ZeroLifetime(address account);
    error WrongSink(address given, address expected);
    error ZeroSink();
    error AlreadyPledged(address worker, PledgeStatus status);
    error WrongPledgeStatus(address worker, PledgeStatus actual, PledgeStatus needed);
    error WorkerStopped(address worker, uint256 since);
    error NotIssuedYet(uint256 issued);
    error LifetimeOver(uint256 issued, uint256 until);
    error IssuedAfterRequest(uint256 issued, uint256 requested);
    error ClaimsOpen(address worker, uint256 claims);
    error NotYet(uint256 until);
    error NothingLeft(address worker);
    error WrongClaimRoot(bytes32 given, bytes32 actual);
    error NodesMissing();

    event Pledged(address indexed worker, uint256 collateral);
    event ReleaseRequested(address indexed worker, uint256 until);
    event PledgeReleased(address indexed worker, uint256 collateral);
    event WorkerHalted(address indexed worker, ClaimId indexed claimId, uint256 collateral);
    event RemainderSwept(address indexed worker, uint256 amount);

    /// @notice The caller pledges one collateral from its free stake: the pledge backs all claims that the caller signs
    /// from now on.
    /// @dev Reverts with `AlreadyPledged`, the market's `NotLive`, or the vault's `InsufficientFreeStake`.
    function pledge() external;

    /// @notice The caller requests its pledge back. The pledge backs no claims issued from now on.
    /// @dev Reverts with `WrongPledgeStatus`.
    function requestRelease() external;

    /// @notice Unlocks the caller's pledge, once nothing that it backs can be put on chain and all its claims are final
    /// or refuted.
    /// @dev Reverts with `WrongPledgeStatus`, `NotYet` or `ClaimsOpen`.
    function release() external;

    /// @notice Puts a claim on chain and starts its window. Authorised contracts only.
    /// @dev Reverts with `NotAuthorised`, `WorkerStopped`, `WrongPledgeStatus`, `NotIssuedYet`, `LifetimeOver`,
    /// `IssuedAfterRequest`, `WrongClaimRoot` or `NodesMissing`, and with errors from the job market: for any term out
    /// of range, `WrongInputCount`, `WrongInputLength`, `WrongInputRoot`, `ClaimExists`.
    /// @param entry The claim.
    /// @param nodes The list nodes, as for `IJobMarket.submit`. For trace roots, no nodes are accepted as well.
    /// @return claimId The claim's id.
    function enter(PledgedEntry calldata entry, bytes calldata nodes) external returns (ClaimId claimId);

    /// @notice Sends the rest of a stopped worker's pledge to the sink, once every game about the worker's claims has
    /// ended or can be ended. Anyone may call.
    /// @dev Reverts with `WrongPledgeStatus`, `NotYet` or `NothingLeft`.
    /// @param worker The former owner of the pledge.
    function sweep(address worker) external;

    /// @notice The stored state of a worker's pledge.
    /// @param worker The worker.
    /// @return status The pledge's status.
    /// @return time When the worker pledged, requested release, or was stopped (unix time); 0 without a pledge.
    /// @return claims Number of the worker's claims in their windows or disputed.
    /// @return left The rest of a stopped worker's pledge, smallest units of the asset.
    function pledgeOf(
        address worker
    ) external view returns (PledgeStatus status, uint256 time, uint256 claims, uint256 left);

    /// @notice The stored state of a claim, by its id.
    /// @param claimId The claim.
    /// @return status The claim's status.
    /// @return time As in `claimStatus`.
    /// @return worker The claim's worker.
    function statusOf(ClaimId claimId) external view returns (ClaimStatus status, uint256 time, address worker);

    /// @notice How long after it was issued a claim can be put on chain.
    /// @param account A contract.
    /// @return Seconds; 0 for a contract that may put none on chain.
    function lifetimeOf(address account) external view returns (uint256);

    /// @notice Who receives what is owed to nobody.
    /// @return Its address.
    function sink() external view returns (address);

    /// @notice The deployment, described like the job market's. The parameter `sink` is this contract.
    /// @return The whole deployment.
    function deployment() external view returns (Deployment memory);
}
