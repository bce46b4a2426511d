// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket} from "../../../contracts/interfaces/IJobMarket.sol";
import {MarketDeployer} from "../../../contracts/market/MarketDeployer.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {IMarketEvents, JobRequest} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IProvisioning} from "../../../contracts/interfaces/IProvisioning.sol";
import {IStakeVault} from "../../../contracts/interfaces/IStakeVault.sol";
import {IStepVerifier} from "../../../contracts/interfaces/IStepVerifier.sol";
import {OnesVerifier, OpenProvisioning} from "../../../contracts/test/ProtocolMocks.sol";
import {TestToken} from "../../../contracts/test/TestTokens.sol";
import {PackedState} from "../../../contracts/types/GameState.sol";
import {ClaimId, GameId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job, JobIds} from "../../../contracts/types/Job.sol";
import {Parameters} from "../../../contracts/types/Parameters.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {Consumer} from "./Consumer.t.sol";
import {OnesProgram} from "./OnesProgram.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice The protocol with five actors, and what was done on it.
abstract contract ProtocolWorld is OnesProgram {
    TestToken public token = new TestToken();
    OpenProvisioning public provisioning = new OpenProvisioning();
    IJobMarket public market;
    IStakeVault public vault;
    IDisputeGame public game;
    address[5] public actors;
    Job[] internal _jobs;
    Claim[] internal _claims;
    GameId[] internal _games;
    mapping(GameId gameId => PackedState) internal _states;
    mapping(GameId gameId => PackedState) internal _before;
    mapping(GameId gameId => uint256) internal _openedAt;
    mapping(GameId gameId => uint256) internal _claimOf;
    mapping(uint256 claim => uint256) internal _windowEnd;
    mapping(uint256 job => uint256) internal _until;
    mapping(uint256 claim => uint256) internal _jobOf;
    mapping(address account => uint256) internal _readyAt;
    mapping(ClaimId claimId => bool) internal _lie;
    /// @notice A requester that is called back.
    Consumer public consumer;
    /// @dev Accounts that challenge and do nothing else.
    address[] internal _swarm;
    uint256 internal _now = 1_000_000;

    constructor() {
        vm.warp(_now);
        vm.fee(10 gwei);
        vm.txGasPrice(10 gwei);
        _deploy(_parameters());
        for (uint160 i = 0; i < 5; ++i) {
            actors[i] = address(0x1000 + i);
            _fund(actors[i]);
            _prankAs(actors[i]);
            vault.stake(20 ether);
        }
        for (uint160 i = 0; i < _swarmSize(); ++i) {
            _swarm.push(address(0x2000 + i));
            _fund(_swarm[i]);
        }
        consumer = new Consumer(market);
    }

    function _deploy(Parameters memory p) private {
        MarketDeployer deployer = new MarketDeployer();
        market = IJobMarket(deployer.reserved());
        bytes memory arguments = abi.encode(token, _registry(), p.withdrawalDelay, market);
        vault = IStakeVault(Shipped.deploy("contracts/vault/StakeVault.sol:StakeVault", arguments));
        address checker = Shipped.deploy("contracts/game/ProofChecker.sol:ProofChecker", abi.encode(_verifier()));
        arguments = abi.encode(market, checker, p);
        game = IDisputeGame(Shipped.deploy("contracts/game/DisputeGame.sol:DisputeGame", arguments));
        arguments = abi.encode(vault, game, p);
        address extension = Shipped.deploy("contracts/market/MarketExtension.sol:MarketExtension", arguments);
        deployer.deploy(Shipped.creationCode("contracts/market/JobMarket.sol:JobMarket"), vault, game, extension, p);
    }

    /// @dev Says what elements are.
    function _verifier() internal virtual returns (IStepVerifier) {
        return new OnesVerifier();
    }

    /// @dev Says who may stake and claim. All actors may when it is given.
    function _registry() internal virtual returns (IProvisioning) {
        return IProvisioning(address(provisioning));
    }

    /// @dev Posts a job. @return job As it was posted.
    function _posted(address requester, JobRequest memory request) internal returns (Job memory job) {
        vm.recordLogs();
        _prankAs(requester);
        market.post(request);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != IMarketEvents.JobPosted.selector) continue;
            (job, , ) = abi.decode(logs[i].data, (Job, ProgramFacts, bytes32[]));
        }
    }

    function _fund(address account) internal {
        token.mint(account, 100 ether);
        _prankAs(account);
        token.approve(address(vault), type(uint256).max);
        _prankAs(account);
        vault.deposit(account, 50 ether);
    }

    /// @dev How many accounts challenge and do nothing else.
    function _swarmSize() internal pure virtual returns (uint160) {
        return 0;
    }

    function _key(Claim memory claim) internal view returns (ClaimKey memory) {
        return ClaimKey(market.jobIdOf(claim.job), claim.worker, claim.root, claim.collateral);
    }

    function _claimId(Claim memory claim) internal view returns (ClaimId) {
        return JobIds.claimId(market.jobIdOf(claim.job), claim.worker, claim.root, claim.collateral);
    }

    function _creditOf(address account) internal view returns (uint256 credit) {
        (credit, , , , ) = vault.accountOf(account);
    }

    function _holdings(address account) internal view returns (uint256) {
        (uint256 credit, uint256 staked, , uint256 withdrawing, ) = vault.accountOf(account);
        return credit + staked + withdrawing;
    }
}
