// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {JobStatus, ClaimStatus} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IStakeVault} from "../../../contracts/interfaces/IStakeVault.sol";
import {Claim, Job} from "../../../contracts/types/Job.sol";
import {GameState, Side} from "../../../contracts/types/GameState.sol";
import {TrespassHandler} from "./TrespassHandler.t.sol";
import {vm} from "./Vm.sol";

/// @notice A league of two, who play workers, challengers and requesters as they like, also against themselves, against
/// one honest challenger, one honest worker and one requester. The honest act at the last moment: in the last second of
/// a window, of their clock, of their time to submit.
contract LeagueHandler {
    uint8 private constant LEAGUE = 2;
    uint8 private constant CHALLENGER = 2;
    uint8 private constant WORKER = 3;
    uint8 private constant REQUESTER = 4;
    uint256 private constant START = 100 ether;
    /// @dev Window and both clocks, in the handler's deployment: after that no claim submitted before is undecided.
    uint256 private constant LONGEST_DISPUTE = 1_800 + 2 * 3_600;
    uint256 private constant CLAIM_SECONDS = 3_600;
    uint256 private constant NEVER = type(uint256).max;
    /// @dev More than honest sides have to do in the longest time that passes at once.
    uint256 private constant MAX_STOPS = 100;
    /// @dev The price of freeing a job at the cap: what a requester may lose of a fee to whoever does.
    uint256 private constant MAX_EXPIRY = 100_000 * 50 gwei;
    /// @dev Arguments of `ProtocolHandler.endGame`: a remainder by 3 says how, by 5 who.
    uint8 private constant SETTLE = 2;
    uint8 private constant TIMEOUT = 10;
    uint8 private constant BY = 6;

    TrespassHandler public immutable world;
    IStakeVault private immutable _vault;
    /// @notice Moves that honest sides wanted to make and could not: none may be.
    uint256 public stuck;
    mapping(uint256 claim => bool) private _challenged;

    constructor(TrespassHandler world_) {
        world = world_;
        _vault = world_.vault();
    }

    function post(bool byLeague, uint64 fee, bool undelivered) external {
        world.postJob(byLeague ? 0 : REQUESTER, fee, undelivered);
    }

    /// @param late The submission comes in the last second.
    function honestlyWork(uint8 which, bool late) public {
        world.claimJob(WORKER, which);
        if (!late) world.submitJob(which, false);
    }

    function claimJob(uint8 who, uint8 which) public {
        world.claimJob(who % LEAGUE, which);
    }

    function submit(uint8 which, bool lie) public {
        (uint256 jobs, , ) = world.counts();
        (, , address worker) = world.jobAt(which % jobs);
        require(_inLeague(worker));
        world.submitJob(which, lie);
    }

    function open(uint8 who, uint8 which) public {
        world.openGame(who % LEAGUE, which, true);
    }

    /// @notice Up to four moves of one game, of the league and of honest sides that do not wait.
    function play(uint8 which, uint8 leaf) external {
        world.playGame(which, leaf);
        for (uint256 i = 0; i < leaf % 4; ++i) {
            try world.playGame(which, leaf) {} catch {
                return;
            }
        }
    }

    function concede(uint8 which, bool worker) external {
        (, , uint256 games) = world.counts();
        (GameState memory s, uint256 c, ) = world.gameAt(which % games);
        (Claim memory claim, ) = world.claimAt(c);
        require(_inLeague(worker ? claim.worker : s.challenger));
        world.endGame(which, 0, worker);
    }

    function timeout(uint8 which, uint8 who) external {
        world.endGame(which, TIMEOUT + BY * (who % 5), false);
    }

    function settle(uint8 which) external {
        world.endGame(which, SETTLE, false);
    }

    /// @notice The next step of a job's life, so that random sequences get far: mostly the league's.
    function advance(uint8 who, uint8 which, bool lie) external {
        (uint256 jobs, uint256 claims, ) = world.counts();
        (, JobStatus status, ) = world.jobAt(which % jobs);
        if (status == JobStatus.Open && who % 4 == 3) honestlyWork(which, lie);
        else if (status == JobStatus.Open) claimJob(who, which);
        else if (status == JobStatus.Claimed) submit(which, lie);
        else if (status == JobStatus.Submitted) open(who, uint8(claims - 1));
    }

    function finish(uint8 which, uint8 what) external {
        if (what % 4 == 0) world.finaliseClaim(which);
        else if (what % 4 == 1) world.payClaim(which, what % 8 == 1);
        else if (what % 4 == 2) world.collectEarnings(which);
        else world.endJob(which, what);
    }

    /// @notice What nobody may.
    function trespass(uint8 which, uint8 who, uint8 what) external {
        if (what % 4 == 0) world.meddle(which, who);
        else if (what % 4 == 1) world.squat(which, who);
        else if (what % 4 == 2) world.plunder(who);
        else world.intrude(which, who);
    }

    function stakeOrUnstake(uint8 who, uint96 amount, uint8 what) external {
        world.stakeOrUnstake(who % LEAGUE, amount, what);
    }

    /// @notice Time passes: mostly little, so that windows and games stay open for a while.
    function pass(uint16 secondsOn, uint8 baseFeeGwei) external {
        _pass(baseFeeGwei % 4 == 0 ? secondsOn % 7_200 : secondsOn % 400, baseFeeGwei);
    }

    /// @notice Claims that lie and stand: none may.
    function liesThatStand() external view returns (uint256 count) {
        (, uint256 claims, ) = world.counts();
        for (uint256 c = 0; c < claims; ++c) {
            (, bool lie) = world.claimAt(c);
            (ClaimStatus status, , , ) = world.fateOf(c);
            if (lie && status == ClaimStatus.Finalised) ++count;
        }
    }

    /// @notice Nothing new happens, and all that is open ends: games within the longest dispute, jobs after their
    /// deadlines; everybody leaves with all that is theirs. Any call that fails here is a state without exit.
    function windDown() external {
        uint256 end = world.time() + CLAIM_SECONDS + LONGEST_DISPUTE;
        while (world.time() <= end) _pass(600, 10);
        _endGames();
        for (uint256 i = 0; i < 5; ++i) world.move(7_000, 10);
        _endClaims();
        _endJobs();
        require(_vault.custody() == 0, "something is left in custody");
        _leave();
        require(
            world.token().balanceOf(address(_vault)) == _holdings(world.SINK()),
            "the vault keeps what is nobody's, or not all of the sink's"
        );
    }

    /// @notice After `windDown`: the honest have lost nothing, so that the league took out at most what it put in, less
    /// the burn, and the fees paid.
    function checkMoney() external view {
        require(_wallet(CHALLENGER) >= START, "the honest challenger lost");
        require(_wallet(WORKER) >= START, "the honest worker lost");
        uint256 due = MAX_EXPIRY * _jobsOf(world.actors(REQUESTER)) + _feesOf(world.actors(REQUESTER));
        require(_wallet(REQUESTER) + due >= START, "the requester lost more than its fees");
        uint256 league = _wallet(0) + _wallet(1);
        require(league + _holdings(world.SINK()) <= LEAGUE * START + due, "the league gained");
    }

    function _pass(uint16 secondsOn, uint8 baseFeeGwei) private {
        uint256 until = world.time() + secondsOn;
        for (uint256 i = 0; i < MAX_STOPS; ++i) {
            uint256 next = _act(NEVER);
            if (next >= until) break;
            if (next > world.time()) world.move(uint16(next - world.time()), baseFeeGwei);
            _act(next);
        }
        if (until > world.time()) world.move(uint16(until - world.time()), baseFeeGwei);
    }

    /// @dev Everything that honest sides must do by then, or (`NEVER`) nothing.
    /// @return next The last second of what comes next.
    function _act(uint256 by) private returns (uint256 next) {
        next = NEVER;
        (uint256 jobs, uint256 claims, uint256 games) = world.counts();
        for (uint256 j = 0; j < jobs; ++j) {
            (, JobStatus status, address worker) = world.jobAt(j);
            if (status != JobStatus.Claimed || worker != world.actors(WORKER)) continue;
            uint256 last = world.untilOf(j);
            if (by != NEVER && last <= by) _submitLate(uint8(j));
            else if (last < next) next = last;
        }
        for (uint256 c = 0; c < claims; ++c) {
            (, bool lie) = world.claimAt(c);
            (ClaimStatus status, uint256 last, , ) = world.fateOf(c);
            if (!lie || _challenged[c] || status != ClaimStatus.Submitted) continue;
            if (by != NEVER && last <= by) _challenge(c);
            else if (last < next) next = last;
        }
        for (uint256 g = 0; g < games; ++g) {
            uint256 last = _lastSecond(g);
            if (by != NEVER && last <= by) _answer(uint8(g));
            else if (last < next) next = last;
        }
    }

    function _submitLate(uint8 j) private {
        world.squat(j, WORKER);
        try world.submitJob(j, false) {} catch {
            ++stuck;
        }
    }

    function _challenge(uint256 c) private {
        _challenged[c] = true;
        world.meddle(uint8(c), CHALLENGER);
        try world.openGame(CHALLENGER, uint8(c), true) {} catch {
            ++stuck;
        }
    }

    function _answer(uint8 g) private {
        world.intrude(g, 0);
        try world.playGame(g, 0) {} catch {
            ++stuck;
        }
    }

    /// @dev Of a game in which an honest side is to move.
    function _lastSecond(uint256 g) private view returns (uint256) {
        (GameState memory s, uint256 c, bool over) = world.gameAt(g);
        if (over || _isDead(c)) return NEVER;
        (Claim memory claim, ) = world.claimAt(c);
        bool worker = s.turn == Side.Worker;
        if ((worker ? claim.worker : s.challenger) != world.actors(worker ? WORKER : CHALLENGER)) return NEVER;
        return s.since + (worker ? s.workerSeconds : s.challengerSeconds);
    }

    /// @dev INVARIANT under test: the longest dispute after the last submission somebody's clock is over in every game,
    /// and anybody can end it.
    function _endGames() private {
        (, , uint256 games) = world.counts();
        for (uint256 g = 0; g < games; ++g) {
            (, uint256 c, bool over) = world.gameAt(g);
            if (!over) world.endGame(uint8(g), _isDead(c) ? SETTLE : TIMEOUT + BY * CHALLENGER, false);
        }
    }

    function _endClaims() private {
        (, uint256 claims, ) = world.counts();
        for (uint256 c = 0; c < claims; ++c) {
            (ClaimStatus status, , bool paid, uint256 earned) = world.fateOf(c);
            if (earned != 0) world.collectEarnings(uint8(c));
            if (status == ClaimStatus.Submitted) {
                world.finaliseClaim(uint8(c));
                (status, , paid, ) = world.fateOf(c);
            }
            if (status == ClaimStatus.Finalised && !paid) world.payClaim(uint8(c), c % 2 == 0);
        }
    }

    function _endJobs() private {
        (uint256 jobs, , ) = world.counts();
        for (uint256 j = 0; j < jobs; ++j) {
            (, JobStatus status, ) = world.jobAt(j);
            if (status == JobStatus.Open || status == JobStatus.Claimed) world.endJob(uint8(j), 0);
        }
    }

    function _leave() private {
        for (uint256 i = 0; i < 5; ++i) {
            address actor = world.actors(i);
            (, uint256 staked, uint256 locked, , ) = _vault.accountOf(actor);
            require(locked == 0, "locked for nothing");
            if (staked == 0) continue;
            vm.prank(actor, actor);
            _vault.requestWithdraw(staked);
        }
        vm.warp(world.time() + _vault.withdrawalDelay());
        for (uint256 i = 0; i < 5; ++i) {
            address actor = world.actors(i);
            (uint256 credit, , , uint256 withdrawing, ) = _vault.accountOf(actor);
            if (withdrawing != 0) {
                vm.prank(actor, actor);
                _vault.unstake();
            }
            if (credit + withdrawing == 0) continue;
            vm.prank(actor, actor);
            _vault.withdraw(credit + withdrawing, actor);
        }
    }

    function _isDead(uint256 c) private view returns (bool) {
        (ClaimStatus status, , , ) = world.fateOf(c);
        return status == ClaimStatus.Refuted;
    }

    function _inLeague(address account) private view returns (bool) {
        return account == world.actors(0) || account == world.actors(1);
    }

    function _wallet(uint8 who) private view returns (uint256) {
        return world.token().balanceOf(world.actors(who));
    }

    function _holdings(address account) private view returns (uint256) {
        (uint256 credit, uint256 staked, , uint256 withdrawing, ) = _vault.accountOf(account);
        return credit + staked + withdrawing;
    }

    function _jobsOf(address requester) private view returns (uint256 count) {
        (uint256 jobs, , ) = world.counts();
        for (uint256 j = 0; j < jobs; ++j) {
            (Job memory job, , ) = world.jobAt(j);
            if (job.requester == requester) ++count;
        }
    }

    function _feesOf(address requester) private view returns (uint256 sum) {
        (, uint256 claims, ) = world.counts();
        for (uint256 c = 0; c < claims; ++c) {
            (Claim memory claim, ) = world.claimAt(c);
            (ClaimStatus status, , , ) = world.fateOf(c);
            if (status == ClaimStatus.Finalised && claim.job.requester == requester) sum += claim.job.fee;
        }
    }
}
