// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IJobMarket} from "../../../contracts/interfaces/IJobMarket.sol";
import {MarketDeployer} from "../../../contracts/market/MarketDeployer.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {JobRequest} from "../../../contracts/interfaces/IMarketEvents.sol";
import {IProvisioning} from "../../../contracts/interfaces/IProvisioning.sol";
import {IStakeVault} from "../../../contracts/interfaces/IStakeVault.sol";
import {IStepVerifier} from "../../../contracts/interfaces/IStepVerifier.sol";
import {States} from "../../../contracts/game/States.sol";
import {OnesVerifier, OpenProvisioning} from "../../../contracts/test/ProtocolMocks.sol";
import {TestToken} from "../../../contracts/test/TestTokens.sol";
import {GameState, PackedState, Pick} from "../../../contracts/types/GameState.sol";
import {Claim, ClaimKey, Job, JobIds} from "../../../contracts/types/Job.sol";
import {Parameters} from "../../../contracts/types/Parameters.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {Consumer} from "./Consumer.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice The protocol with five actors, and what was done on it. The program has one step of 2,048 bytes, each of
/// which should be 1. Its outputs are that step, a tensor of twice the size which is never delivered, and that step
/// again.
abstract contract ProtocolWorld {
    uint256 internal constant CLOCK = 3_600;
    uint256 internal constant OUTPUTS = 3;
    address public constant SINK = address(0xdead);

    bytes private constant _JOB_POSTED =
        "JobPosted(bytes32,address,bytes32,"
        "(address,bytes32,bytes32,uint64,uint32,uint32,uint32,uint8,uint128,"
        "uint32,uint32,uint64,uint32,uint32,uint64,bool,bytes32,bytes32),"
        "(bytes,bytes32,bytes32),bytes32[])";

    TestToken public token = new TestToken();
    OpenProvisioning public provisioning = new OpenProvisioning();
    IJobMarket public market;
    IStakeVault public vault;
    IDisputeGame public game;
    address[5] public actors;
    Job[] internal _jobs;
    Claim[] internal _claims;
    bytes32[] internal _games;
    mapping(bytes32 gameId => PackedState) internal _states;
    mapping(bytes32 gameId => PackedState) internal _before;
    mapping(bytes32 gameId => uint256) internal _openedAt;
    mapping(bytes32 gameId => uint256) internal _claimOf;
    mapping(uint256 claim => uint256) internal _windowEnd;
    mapping(uint256 job => uint256) internal _until;
    mapping(uint256 claim => uint256) internal _jobOf;
    mapping(address account => uint256) internal _readyAt;
    mapping(bytes32 claimId => bool) internal _lie;
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
        market = IJobMarket(deployer.market());
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

    /// @dev From calldata, as the game reads it.
    function unpack(PackedState calldata packed) external pure returns (GameState memory) {
        return States.unpack(packed);
    }

    function program() public pure returns (ProgramFacts memory facts) {
        facts.header = abi.encodePacked(uint16(2), uint32(1_000_000), uint32(90_000), uint64(2_048), uint32(1));
        facts.header = abi.encodePacked(facts.header, uint32(1), uint16(0), uint16(OUTPUTS));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(2_048), uint8(0));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(4_096), uint8(0));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(2_048), uint8(0));
        facts.stepsRoot = sha256(abi.encodePacked(bytes1(0), uint8(2), uint64(2_048), sha256(hex"00")));
        facts.checkpointsRoot = sha256(abi.encodePacked(bytes1(0), uint32(0), uint32(0)));
    }

    /// @notice What a claim's list is, as it is submitted: the trace root, or all outputs of an answer, which are one
    /// tensor.
    function nodesOf(Job memory job, bool lie) public pure returns (bytes memory) {
        bytes32 root = tensorRoot(lie);
        return job.answers == 0 ? abi.encodePacked(root) : abi.encodePacked(root, root, root, bytes32(0));
    }

    function claimRoot(Job memory job, bool lie) public pure returns (bytes32) {
        bytes32 root = tensorRoot(lie);
        if (job.answers == 0) return root;
        bytes32 left = sha256(abi.encodePacked(root, root));
        return sha256(abi.encodePacked(left, sha256(abi.encodePacked(root, bytes32(0)))));
    }

    function tensorRoot(bool lie) public pure returns (bytes32) {
        bytes32 leaf = sha256(_chunk(lie));
        bytes32 pair = sha256(abi.encodePacked(leaf, leaf));
        return sha256(abi.encodePacked(pair, pair));
    }

    /// @dev Posts a job. @return job As it was posted.
    function _posted(address requester, JobRequest memory request) internal returns (Job memory job) {
        vm.recordLogs();
        _prankAs(requester);
        market.post(request);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != keccak256(_JOB_POSTED)) continue;
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

    /// @dev The next call is a plain account's transaction.
    function _prankAs(address account) internal {
        vm.prank(account, account);
    }

    /// @dev From output `k` to the claim's root.
    function _pathOf(Job memory job, uint256 k, bool lie) internal pure returns (bytes32[] memory path) {
        if (job.answers == 0) return path;
        bytes32 root = tensorRoot(lie);
        path = new bytes32[](2);
        path[0] = k == 2 ? bytes32(0) : root;
        path[1] = sha256(abi.encodePacked(root, k == 2 ? root : bytes32(0)));
    }

    function _openingOf(Job memory job, bool lie) internal pure returns (Pick memory pick) {
        pick.node = tensorRoot(lie);
        pick.siblings = _pathOf(job, 0, lie);
        pick.program = program();
        pick.step.dtype = 2;
        pick.step.count = 2_048;
        pick.step.bodyHash = sha256(hex"00");
    }

    function _revealOf(GameState memory s, bool lie) internal pure returns (bytes memory) {
        bytes32 l = sha256(_chunk(lie));
        return s.depth == 0 ? _chunk(lie) : abi.encodePacked(l, l, l, l);
    }

    function _pickOf(bool lie, uint8 leaf) internal pure returns (Pick memory pick) {
        bytes32 l = sha256(_chunk(lie));
        pick.index = leaf % 4;
        pick.node = l;
        pick.siblings = new bytes32[](2);
        pick.siblings[0] = l;
        pick.siblings[1] = sha256(abi.encodePacked(l, l));
    }

    function _key(Claim memory claim) internal view returns (ClaimKey memory) {
        return ClaimKey(market.jobIdOf(claim.job), claim.worker, claim.root, claim.collateral);
    }

    function _claimId(Claim memory claim) internal view returns (bytes32) {
        return JobIds.claimId(market.jobIdOf(claim.job), claim.worker, claim.root, claim.collateral);
    }

    function _creditOf(address account) internal view returns (uint256 credit) {
        (credit, , , , ) = vault.accountOf(account);
    }

    function _holdings(address account) internal view returns (uint256) {
        (uint256 credit, uint256 staked, , uint256 withdrawing, ) = vault.accountOf(account);
        return credit + staked + withdrawing;
    }

    function _chunk(bool lie) internal pure returns (bytes memory chunk) {
        bytes32 word =
            lie
                ? bytes32(0x0202020202020202020202020202020202020202020202020202020202020202)
                : bytes32(0x0101010101010101010101010101010101010101010101010101010101010101);
        chunk = abi.encodePacked(word, word, word, word);
        chunk = abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function _tensor(bool lie) internal pure returns (bytes memory) {
        bytes memory chunk = _chunk(lie);
        return abi.encodePacked(chunk, chunk, chunk, chunk);
    }

    function _parameters() internal pure virtual returns (Parameters memory) {
        return
            Parameters({
                baseWindow: 1_800,
                maxWindow: 86_400,
                baseClock: uint32(CLOCK),
                withdrawalDelay: 172_800,
                rate: 100_000_000,
                maxWork: 1_000_000_000_000,
                arityBits: 4,
                maxStepGas: 12_000_000,
                maxStepBytes: 90_000,
                bondGas: 1_250_000,
                priceCap: 50 gwei,
                bounty: 0.02 ether,
                collateral: 1.8 ether,
                penaltyBps: 500,
                sink: SINK
            });
    }
}
