// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {ClaimStatus, Deployment, IMarketEvents} from "../../interfaces/IMarketEvents.sol";
import {IClaimContract} from "../../interfaces/IClaimContract.sol";
import {IDisputeGame} from "../../interfaces/IDisputeGame.sol";
import {Authoriser, IPledgedClaims, PledgeStatus} from "../../interfaces/IPledgedClaims.sol";
import {IStakeVault} from "../../interfaces/IStakeVault.sol";
import {Clock} from "../../game/Clock.sol";
import {ClaimContract} from "../../market/ClaimContract.sol";
import {ClaimGuards} from "../../market/ClaimGuards.sol";
import {ParameterChecks} from "../../market/ParameterChecks.sol";
import {ClaimId, JobId} from "../../types/Ids.sol";
import {Claim, ClaimKey, Job, JobIds} from "../../types/Job.sol";
import {Parameters} from "../../types/Parameters.sol";
import {PledgedEntry} from "../../types/SignedClaim.sol";
import {SEMANTICS} from "../../types/Semantics.sol";
import {PledgedJobs} from "./PledgedJobs.sol";

/*
 *   Pledge    | Call           | Who may send it      | Next      | Money
 *   ----------+----------------+----------------------+-----------+----------------------------------------------
 *   None      | pledge         | an attested worker   | Active    | collateral locked
 *   Active    | requestRelease | the worker           | Releasing |
 *   Releasing | release        | the worker, later    | None      | collateral unlocked
 *   Active,   | refuted        | the game             | Stopped   | collateral slashed: bounty and dues of the claim's
 *   Releasing |                |                      |           | games; the rest is kept for the worker's others
 *   Stopped   | refuted        | the game             | Stopped   | dues of that claim's games, from what is kept
 *   Stopped   | sweep          | anyone, later        | Stopped   | what is left goes to the sink
 *
 *   Claim     | Call           | Needs                                             | Next
 *   ----------+----------------+---------------------------------------------------+-----------
 *   None      | enter          | an authorised contract; pledge Active, or         | Submitted
 *             |                | Releasing if issued before it was asked back      |
 *   Submitted | gameOpened     | the game; in the window; worker not stopped       | Submitted
 *   Submitted | refuted        | the game                                          | Refuted
 *   Submitted | finalise       | window over, no open game, worker not stopped     | Finalised
 */

/// @title Claims backed by a pledge. See IPledgedClaims; the tables above have its states and calls.
contract PledgedClaims is IPledgedClaims, ClaimContract {
    using SafeCast for uint256;

    /// @dev One word.
    struct ClaimRecord {
        ClaimStatus status;
        uint40 time;
        address worker;
    }

    /// @dev `claims` counts Submitted claims; `time` records when the status began; `left` holds the remainder of a
    /// stopped worker's pledge for the worker's games, in the vault's custody.
    struct Pledge {
        PledgeStatus status;
        uint40 time;
        uint32 claims;
        uint128 left;
    }

    /// @inheritdoc IPledgedClaims
    address public immutable sink;
    uint256 private immutable _longestLifetime;
    uint256 private immutable _longestDispute;

    /// @dev What the deployment fixed. Nothing writes it later.
    Parameters private _parameters;
    /// @inheritdoc IPledgedClaims
    /// @dev Nothing writes it later.
    mapping(address account => uint256) public lifetimeOf;
    mapping(ClaimId claimId => ClaimRecord) private _claims;
    mapping(address worker => Pledge) private _pledges;
    /// @dev The worker whose claim dies in this call. The amount not due to the claim's games returns to the worker's
    /// pledge.
    address private transient _dying;

    /// @dev Reverts with the market's `NotItsMarket` or `OtherParameters`, with `WrongSink`, `ZeroSink`,
    /// `AuthoriserTwice` or `ZeroLifetime`, and as `ParameterChecks.check`.
    /// @param vault_ A separate vault, deployed before with this address as its market.
    /// @param game_ A separate game, likewise.
    /// @param authorisers The contracts that may put claims on chain.
    /// @param sink_ The receiver of amounts owed to nobody.
    /// @param p Parameters like a market's. Their sink is this contract: amounts not due to a refuted claim's games
    /// remain for the worker's other games.
    constructor(
        IStakeVault vault_,
        IDisputeGame game_,
        Authoriser[] memory authorisers,
        address sink_,
        Parameters memory p
    ) ClaimGuards(vault_, game_) {
        ParameterChecks.check(p);
        _requireOwn(p);
        require(p.sink == address(this), WrongSink(p.sink, address(this)));
        require(sink_ != address(0), ZeroSink());
        uint256 longest = 0;
        for (uint256 i = 0; i < authorisers.length; ++i) {
            address account = authorisers[i].account;
            require(lifetimeOf[account] == 0, AuthoriserTwice(account));
            require(authorisers[i].lifetime != 0, ZeroLifetime(account));
            lifetimeOf[account] = authorisers[i].lifetime;
            if (authorisers[i].lifetime > longest) longest = authorisers[i].lifetime;
        }
        sink = sink_;
        _longestLifetime = longest;
        _longestDispute = Clock.longestDispute(p.maxWindow, Clock.budget(p.baseClock, p.maxWork, p.rate));
        _parameters = p;
    }

    /* ---- Pledges ---- */

    /// @inheritdoc IPledgedClaims
    function pledge() external {
        Pledge storage record = _pledges[msg.sender];
        require(record.status == PledgeStatus.None, AlreadyPledged(msg.sender, record.status));
        require(_vault.provisioning().isLive(msg.sender), IMarketEvents.NotLive(msg.sender));
        record.status = PledgeStatus.Active;
        record.time = uint40(block.timestamp);
        uint256 collateral = _parameters.collateral;
        emit Pledged(msg.sender, collateral);
        _vault.lock(msg.sender, collateral);
    }

    /// @inheritdoc IPledgedClaims
    function requestRelease() external {
        Pledge storage record = _pledges[msg.sender];
        _requirePledge(msg.sender, record.status, PledgeStatus.Active);
        record.status = PledgeStatus.Releasing;
        record.time = uint40(block.timestamp);
        emit ReleaseRequested(msg.sender, block.timestamp + _longestLifetime);
    }

    /// @inheritdoc IPledgedClaims
    function release() external {
        Pledge memory record = _pledges[msg.sender];
        _requirePledge(msg.sender, record.status, PledgeStatus.Releasing);
        // INVARIANT: the pledge stays until no claim backed by it can be put on chain or refuted.
        uint256 until = record.time + _longestLifetime;
        require(block.timestamp > until, NotYet(until));
        require(record.claims == 0, ClaimsOpen(msg.sender, record.claims));
        delete _pledges[msg.sender];
        uint256 collateral = _parameters.collateral;
        emit PledgeReleased(msg.sender, collateral);
        _vault.unlock(msg.sender, collateral);
    }

    /// @inheritdoc IPledgedClaims
    function sweep(address worker) external {
        Pledge storage record = _pledges[worker];
        _requirePledge(worker, record.status, PledgeStatus.Stopped);
        // SAFETY: a game that was open when the worker was stopped can be ended by then, and is paid before.
        uint256 until = record.time + _longestDispute;
        require(block.timestamp > until, NotYet(until));
        uint256 left = record.left;
        require(left != 0, NothingLeft(worker));
        record.left = 0;
        emit RemainderSwept(worker, left);
        _vault.give(sink, left);
    }

    /* ---- Claims ---- */

    /// @inheritdoc IPledgedClaims
    function enter(PledgedEntry calldata entry, bytes calldata nodes) external returns (ClaimId claimId) {
        _checkIssued(entry.worker, entry.issued);
        Job memory job = PledgedJobs.jobOf(entry, msg.sender, _parameters);
        PledgedJobs.checkNodes(job, entry.root, _parameters.arityBits, nodes);
        JobId jobId = JobIds.newJobId(job, address(this));
        claimId = JobIds.claimId(jobId, entry.worker, entry.root, _parameters.collateral);
        require(_claims[claimId].status == ClaimStatus.None, IMarketEvents.ClaimExists(claimId));
        PledgedJobs.checkInputs(jobId, entry);
        // SAFETY: nobody shortens the time in which the claim could have been put on chain, and so be disputed, by
        // putting the claim on chain early.
        uint256 windowEnd = Math.max(block.timestamp + job.window, uint256(entry.issued) + lifetimeOf[msg.sender]);
        _claims[claimId] = ClaimRecord(ClaimStatus.Submitted, uint40(windowEnd), entry.worker);
        _pledges[entry.worker].claims += 1;
        emit IMarketEvents.JobPosted(jobId, entry.requester, job.programRoot, job, entry.program, entry.inputRoots);
        emit IMarketEvents.ClaimSubmitted(
            jobId,
            claimId,
            entry.worker,
            entry.root,
            _parameters.collateral,
            windowEnd,
            nodes
        );
    }

    /// @inheritdoc IClaimContract
    function finalise(Claim calldata claim_) external {
        JobId jobId = jobIdOf(claim_.job);
        ClaimId claimId = JobIds.claimId(jobId, claim_.worker, claim_.root, claim_.collateral);
        ClaimRecord memory record = _claims[claimId];
        _requireClaim(claimId, record.status, ClaimStatus.Submitted);
        _requireOver(claimId, record.time);
        // INVARIANT: after a worker's refutation, none of the worker's claims becomes final.
        _requireNotStopped(record.worker);
        _requireUndisputed(claimId);
        _claims[claimId] = ClaimRecord(ClaimStatus.Finalised, uint40(block.timestamp), record.worker);
        _pledges[record.worker].claims -= 1;
        emit IMarketEvents.ClaimFinalised(jobId, claimId);
    }

    /* ---- The game's calls ---- */

    /// @inheritdoc IClaimContract
    function pay(address account, uint256 amount) external onlyGame {
        if (account != address(this)) return _vault.give(account, amount);
        // The rest that a settlement leaves for a claim that died before: rounding.
        if (_dying == address(0)) return _vault.give(sink, amount);
        _pledges[_dying].left += amount.toUint128();
    }

    /// @inheritdoc IClaimContract
    function refuted(
        ClaimKey calldata key,
        ClaimId claimId
    ) external onlyGame returns (uint256 collateral, uint256 bounty) {
        address worker = key.worker;
        // INVARIANT: a claim dies once.
        _requireClaim(claimId, _claims[claimId].status, ClaimStatus.Submitted);
        _claims[claimId].status = ClaimStatus.Refuted;
        _dying = worker;
        Pledge storage record = _pledges[worker];
        record.claims -= 1;
        if (record.status == PledgeStatus.Stopped) {
            // SAFETY: only the first winner gets a bounty. Otherwise a worker would refute its own other claims to get
            // its pledge back.
            collateral = record.left;
            record.left = 0;
            emit IMarketEvents.ClaimRefuted(key.jobId, claimId, worker, collateral);
            return (collateral, 0);
        }
        collateral = _parameters.collateral;
        bounty = _parameters.bounty;
        record.status = PledgeStatus.Stopped;
        record.time = uint40(block.timestamp);
        emit WorkerHalted(worker, claimId, collateral);
        emit IMarketEvents.ClaimRefuted(key.jobId, claimId, worker, collateral);
        _vault.slash(worker, collateral, false);
    }

    /* ---- Views ---- */

    /// @inheritdoc IPledgedClaims
    function pledgeOf(
        address worker
    ) external view returns (PledgeStatus status, uint256 time, uint256 claims, uint256 left) {
        Pledge memory record = _pledges[worker];
        return (record.status, record.time, record.claims, record.left);
    }

    /// @inheritdoc IPledgedClaims
    function statusOf(ClaimId claimId) external view returns (ClaimStatus status, uint256 time, address worker) {
        ClaimRecord memory record = _claims[claimId];
        return (record.status, record.time, record.worker);
    }

    /// @inheritdoc IPledgedClaims
    function deployment() external view returns (Deployment memory) {
        return
            Deployment({
                semantics: SEMANTICS,
                vault: _vault,
                game: _game,
                // All calls are in this contract.
                extension: address(this),
                checker: _game.checker(),
                verifier: _game.checker().verifier(),
                provisioning: _vault.provisioning(),
                asset: _vault.asset(),
                bond: _game.bond(),
                parameters: _parameters
            });
    }

    /* ---- Helpers ---- */

    /// @inheritdoc ClaimContract
    function _stateOf(JobId, ClaimId claimId) internal view override returns (ClaimStatus, uint256) {
        ClaimRecord memory record = _claims[claimId];
        return (record.status, record.time);
    }

    /// @inheritdoc ClaimContract
    // SAFETY: a stopped worker's claim cannot become final. Sham games about this claim would take money due to other
    // games.
    function _requireBacked(ClaimId claimId) internal view override {
        _requireNotStopped(_claims[claimId].worker);
    }

    /// @dev Requires that the caller may put a worker's claim of the given issue time on chain, and that the worker's
    /// pledge backs the claim.
    function _checkIssued(address worker, uint256 issued) private view {
        uint256 lifetime = lifetimeOf[msg.sender];
        require(lifetime != 0, NotAuthorised(msg.sender));
        require(issued <= block.timestamp, NotIssuedYet(issued));
        uint256 until = issued + lifetime;
        require(block.timestamp <= until, LifetimeOver(issued, until));
        _requireNotStopped(worker);
        Pledge memory record = _pledges[worker];
        if (record.status == PledgeStatus.Active) return;
        // INVARIANT: a pledge backs every claim on chain and is not returned before the claim becomes final or refuted.
        _requirePledge(worker, record.status, PledgeStatus.Releasing);
        require(issued < record.time, IssuedAfterRequest(issued, record.time));
    }

    function _requireNotStopped(address worker) private view {
        Pledge memory record = _pledges[worker];
        require(record.status != PledgeStatus.Stopped, WorkerStopped(worker, record.time));
    }

    function _requirePledge(address worker, PledgeStatus actual, PledgeStatus needed) private pure {
        require(actual == needed, WrongPledgeStatus(worker, actual, needed));
    }
}
