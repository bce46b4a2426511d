// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {IMarketEvents} from "../../../contracts/interfaces/IMarketEvents.sol";
import {Authoriser, IPledgedClaims} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {ITickets} from "../../../contracts/interfaces/ITickets.sol";
import {IStakeVault} from "../../../contracts/interfaces/IStakeVault.sol";
import {ClaimsDeployer} from "../../../contracts/extras/pledge/ClaimsDeployer.sol";
import {ProgramProofs} from "../../../contracts/program/ProgramProofs.sol";
import {OnesVerifier, OpenProvisioning} from "../../../contracts/test/ProtocolMocks.sol";
import {TestToken} from "../../../contracts/test/TestTokens.sol";
import {PackedState} from "../../../contracts/types/GameState.sol";
import {ClaimId, GameId} from "../../../contracts/types/Ids.sol";
import {Claim, Job, JobIds} from "../../../contracts/types/Job.sol";
import {Parameters} from "../../../contracts/types/Parameters.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {ClaimEvidence, SignedClaim, Ticket} from "../../../contracts/types/SignedClaim.sol";
import {OnesProgram} from "./OnesProgram.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Pledged claims and tickets with two workers, two payers and a challenger, and what was signed and done.
abstract contract TicketsWorld is OnesProgram {
    using ProgramProofs for ProgramFacts;

    /// @dev What a worker signed, and what became of it by what was done here.
    struct Promise {
        uint256 worker;
        uint256 payer;
        bool lie;
        SignedClaim claim;
        bytes signature;
        bytes32 digest;
        bytes32 secret;
        bool landed;
        uint256 windowEnd;
        bool refuted;
        bool isFinal;
        uint256 face;
        bool cashed;
        bool collected;
    }

    /// @dev What a payer signed. @param real Whether it is the payer of the claim that signed.
    struct SignedTicket {
        uint256 index;
        Ticket ticket;
        bytes signature;
        bool real;
    }

    uint256 internal constant WORKERS = 2;
    uint256 internal constant ACTORS = 5;
    uint256 internal constant LIFETIME = 900;
    uint256 internal constant DELAY = 3_600;
    uint256 internal constant START = 100 ether;
    uint256 private constant KEY = 0xa11ce;

    TestToken public token = new TestToken();
    OpenProvisioning public provisioning = new OpenProvisioning();
    ITickets public tickets;
    IPledgedClaims public claims;
    IStakeVault public vault;
    IDisputeGame public game;
    /// @notice Workers first, then payers, then the challenger.
    address[ACTORS] public actors;
    Promise[] internal _promises;
    SignedTicket[] internal _tickets;
    GameId[] internal _games;
    mapping(GameId gameId => PackedState) internal _states;
    mapping(GameId gameId => uint256) internal _promiseOf;
    mapping(uint256 index => Job) internal _jobs;
    uint256 internal _now = 1_000_000;

    constructor() {
        vm.warp(_now);
        vm.fee(10 gwei);
        vm.txGasPrice(10 gwei);
        _deploy();
        for (uint256 i = 0; i < ACTORS; ++i) {
            address actor = vm.addr(KEY + i);
            actors[i] = actor;
            token.mint(actor, START);
            _prankAs(actor);
            token.approve(address(vault), type(uint256).max);
            _prankAs(actor);
            token.approve(address(tickets), type(uint256).max);
            _prankAs(actor);
            vault.deposit(actor, 40 ether);
        }
        for (uint256 i = 0; i < WORKERS; ++i) {
            _prankAs(actors[i]);
            vault.stake(10 ether);
        }
    }

    function _deploy() private {
        ClaimsDeployer deployer = new ClaimsDeployer();
        Parameters memory p = _parameters();
        p.sink = deployer.reserved();
        claims = IPledgedClaims(p.sink);
        bytes memory arguments = abi.encode(token, provisioning, p.withdrawalDelay, p.sink);
        vault = IStakeVault(Shipped.deploy("contracts/vault/StakeVault.sol:StakeVault", arguments));
        arguments = abi.encode(new OnesVerifier());
        address checker = Shipped.deploy("contracts/game/ProofChecker.sol:ProofChecker", arguments);
        arguments = abi.encode(p.sink, checker, p);
        game = IDisputeGame(Shipped.deploy("contracts/game/DisputeGame.sol:DisputeGame", arguments));
        arguments = abi.encode(claims, token, LIFETIME, DELAY);
        tickets = ITickets(Shipped.deploy("contracts/extras/tickets/Tickets.sol:Tickets", arguments));
        Authoriser[] memory authorisers = new Authoriser[](1);
        authorisers[0] = Authoriser(address(tickets), uint32(LIFETIME));
        bytes memory code = Shipped.creationCode("contracts/extras/pledge/PledgedClaims.sol:PledgedClaims");
        deployer.deploy(code, vault, game, authorisers, SINK, p);
    }

    /// @dev A worker's signature over an answer, as it gives it with that. @param age Seconds since it was signed.
    function _promise(uint256 worker, uint256 payer, bool lie, uint256 age) internal {
        Promise memory p;
        (p.worker, p.payer, p.lie) = (worker, payer, lie);
        p.secret = keccak256(abi.encode("secret", _promises.length));
        p.claim = SignedClaim({
            worker: actors[worker],
            payer: actors[payer],
            programRoot: this.programRoot(program()),
            inputsRoot: 0,
            items: 1,
            firstItem: 0,
            number: uint64(_promises.length),
            issued: uint64(_now - age),
            root: claimRoot(_answered(), lie),
            secretHash: keccak256(abi.encode(p.secret))
        });
        p.digest = tickets.claimDigest(p.claim);
        p.signature = _sign(worker, p.digest);
        _promises.push(p);
    }

    function _sign(uint256 who, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(KEY + who, digest);
        return abi.encodePacked(r, s, v);
    }

    /// @dev From calldata, as the contract reads it.
    function programRoot(ProgramFacts calldata facts) external view returns (bytes32) {
        return facts.root();
    }

    /// @dev A call that may fail. @return ok Whether it did not.
    function _send(address by, address to, bytes memory data) internal returns (bool ok) {
        _prankAs(by);
        (ok, ) = to.call(data);
    }

    /// @dev A job of which only the form is looked at.
    function _answered() internal pure returns (Job memory job) {
        job.answers = uint8(OUTPUTS);
    }

    function _evidence(bool lie) internal pure returns (ClaimEvidence memory evidence) {
        evidence.program = program();
        evidence.nodes = nodesOf(_answered(), lie);
    }

    function _claimOf(uint256 index) internal view returns (Claim memory) {
        Promise storage p = _promises[index];
        return Claim(_jobs[index], p.claim.worker, p.claim.root, _parameters().collateral);
    }

    function _claimId(uint256 index) internal view returns (ClaimId) {
        Claim memory claim = _claimOf(index);
        return JobIds.claimId(claims.jobIdOf(claim.job), claim.worker, claim.root, claim.collateral);
    }

    /// @dev Takes a job from the event that posted it, and a game's state from those of its moves.
    function _follow(uint256 index) internal returns (GameId gameId) {
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            (bytes32[] memory topics, bytes memory data) = (logs[i].topics, logs[i].data);
            if (topics[0] == IMarketEvents.JobPosted.selector) {
                (_jobs[index], , ) = abi.decode(data, (Job, ProgramFacts, bytes32[]));
            } else if (topics[0] == IDisputeGame.Picked.selector) {
                gameId = GameId.wrap(topics[1]);
                _states[gameId] = abi.decode(data, (PackedState));
            } else if (topics[0] == IDisputeGame.Moved.selector) {
                gameId = GameId.wrap(topics[1]);
                (_states[gameId], ) = abi.decode(data, (PackedState, bytes));
            }
        }
    }

    function _creditOf(address account) internal view returns (uint256 credit) {
        (credit, , , , ) = vault.accountOf(account);
    }

    function _holdings(address account) internal view returns (uint256) {
        (uint256 credit, uint256 staked, , uint256 withdrawing, ) = vault.accountOf(account);
        return credit + staked + withdrawing;
    }
}
