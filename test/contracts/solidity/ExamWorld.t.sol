// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {ExamClass, ExamReport, IExams, ExamResult} from "../../../contracts/interfaces/IExams.sol";
import {IExamClaims} from "../../../contracts/interfaces/IExamClaims.sol";
import {IDisputeGame} from "../../../contracts/interfaces/IDisputeGame.sol";
import {ClaimStatus, IMarketEvents} from "../../../contracts/interfaces/IMarketEvents.sol";
import {Authoriser, IPledgedClaims, PledgeStatus} from "../../../contracts/interfaces/IPledgedClaims.sol";
import {ReportKind, Signature} from "../../../contracts/interfaces/IProvisioning.sol";
import {IStakeVault} from "../../../contracts/interfaces/IStakeVault.sol";
import {ClaimsDeployer} from "../../../contracts/extras/pledge/ClaimsDeployer.sol";
import {OnesVerifier} from "../../../contracts/test/ProtocolMocks.sol";
import {TestToken} from "../../../contracts/test/TestTokens.sol";
import {GameState, PackedState} from "../../../contracts/types/GameState.sol";
import {ClaimId, DeviceId, GameId} from "../../../contracts/types/Ids.sol";
import {Claim, ClaimKey, Job, JobIds} from "../../../contracts/types/Job.sol";
import {Parameters} from "../../../contracts/types/Parameters.sol";
import {ProgramFacts} from "../../../contracts/types/Program.sol";
import {DeviceKit} from "./DeviceKit.t.sol";
import {OnesProgram} from "./OnesProgram.t.sol";
import {Shipped} from "./Shipped.sol";
import {vm, Vm} from "./Vm.sol";

/// @notice Exams whose results are claims, with a real registry, five workers that have devices and stake, and what
/// was done. Each block at the least distance from the last exam is an exam. The program reads nothing of its seed.
abstract contract ExamWorld is OnesProgram, DeviceKit {
    uint256 internal constant SPACING = 256;
    /// @dev Blocks in which a report counts for the first class; for the second it is as many as exams are apart.
    uint256 internal constant BLOCKS = 16;
    /// @dev How long after it a result can be challenged.
    uint256 internal constant CHALLENGE = 1 days;
    uint256 internal constant WINDOW = 1_800;
    uint256 internal constant COLLATERAL = 1.8 ether;
    uint8 internal constant CLASSES = 2;

    TestToken public token = new TestToken();
    IStakeVault public vault;
    IDisputeGame public game;
    IExams public exams;
    IPledgedClaims public claims;
    IExamClaims public examClaims;
    address[5] public actors;
    /// @dev Challenges and does nothing else.
    address internal _judge = address(0x2000);
    uint256 internal _now = 1_000_000;
    /// @dev The last exam's.
    uint256 internal _examBlock;
    /// @dev The block of the exams' deployment.
    uint256 private _examsFrom;

    ExamResult[] internal _results;
    mapping(uint256 result => bool) internal _isLie;
    /// @dev Who sat last with a device, and in which exam.
    mapping(DeviceId device => mapping(uint8 class => bytes32)) internal _satLast;
    Claim[] internal _claims;
    mapping(uint256 claim => uint256) internal _resultOf;
    GameId[] internal _games;
    mapping(GameId gameId => PackedState) internal _states;
    mapping(GameId gameId => uint256) internal _claimOf;

    constructor() {
        vm.warp(_now);
        vm.fee(10 gwei);
        vm.txGasPrice(10 gwei);
        // A record tells workers apart by the first bytes of their addresses.
        for (uint160 i = 0; i < 5; ++i) actors[i] = address((0x1000 + i) << 144);
        _deployRegistry(actors, _now);
        _deploy();
        for (uint256 i = 0; i < 5; ++i) {
            _fund(actors[i]);
            _prankAs(actors[i]);
            vault.stake(20 ether);
        }
        _fund(_judge);
    }

    function program() public pure override returns (ProgramFacts memory facts) {
        facts.header = abi.encodePacked(uint16(2), uint32(1_000_000), uint32(90_000), uint64(2_048), uint32(1));
        facts.header = abi.encodePacked(facts.header, uint32(1), uint16(1), uint16(1));
        facts.header = abi.encodePacked(facts.header, uint8(2), uint64(32), uint8(0), uint32(0));
        facts.header = abi.encodePacked(facts.header, uint32(0), uint8(2), uint64(2_048), uint8(0));
        facts.stepsRoot = sha256(abi.encodePacked(bytes1(0), uint8(2), uint64(2_048), sha256(hex"00")));
        facts.checkpointsRoot = sha256(abi.encodePacked(bytes1(0), uint32(0), uint32(0)));
    }

    function _deploy() private {
        ClaimsDeployer deployer = new ClaimsDeployer();
        address market = deployer.reserved();
        Parameters memory p = _parameters();
        p.sink = market;
        bytes memory arguments = abi.encode(token, registry, p.withdrawalDelay, market);
        vault = IStakeVault(Shipped.deploy("contracts/vault/StakeVault.sol:StakeVault", arguments));
        arguments = abi.encode(new OnesVerifier());
        address checker = Shipped.deploy("contracts/game/ProofChecker.sol:ProofChecker", arguments);
        arguments = abi.encode(market, checker, p);
        game = IDisputeGame(Shipped.deploy("contracts/game/DisputeGame.sol:DisputeGame", arguments));
        ExamClass[] memory zoo = new ExamClass[](CLASSES);
        for (uint8 k = 0; k < CLASSES; ++k) zoo[k] = ExamClass(_programRoot(), uint16(k == 0 ? BLOCKS : SPACING));
        arguments = abi.encode(registry, zoo, 1, SPACING);
        _examsFrom = _height;
        exams = IExams(Shipped.deploy("contracts/attestation/Exams.sol:Exams", arguments));
        claims = IPledgedClaims(market);
        arguments = abi.encode(exams, claims);
        examClaims = IExamClaims(Shipped.deploy("contracts/extras/pledge/ExamClaims.sol:ExamClaims", arguments));
        Authoriser[] memory authorisers = new Authoriser[](1);
        authorisers[0] = Authoriser(address(examClaims), uint32(CHALLENGE));
        bytes memory code = Shipped.creationCode("contracts/extras/pledge/PledgedClaims.sol:PledgedClaims");
        deployer.deploy(code, vault, game, authorisers, SINK, p);
    }

    function _fund(address account) private {
        token.mint(account, 100 ether);
        _prankAs(account);
        token.approve(address(vault), type(uint256).max);
        _prankAs(account);
        vault.deposit(account, 60 ether);
    }

    /// @dev Blocks pass up to the next exam, which is the newest block then. An exam that was passed gets its number.
    function _nextExam() internal {
        (uint32 number, uint64 last) = exams.lastExam();
        uint256 next = number == 0 ? _examsFrom : last + SPACING;
        while (next + 1 < _height) {
            // The oldest block that the chain knows, if the exam is forgotten.
            if (next + SPACING < _height) next = _height - SPACING;
            exams.numberExam(uint64(next));
            next += SPACING;
        }
        if (next + 1 > _height) {
            _height = next;
            _nextBlock();
        }
        _examBlock = next;
    }

    /// @dev An actor's device, if the registry says that it has one whose key is known.
    function _deviceOf(address worker) internal view returns (uint256) {
        DeviceId id = registry.deviceOf(worker);
        for (uint256 device = 0; device < DEVICES; ++device) if (_idOf(device) == id) return device;
        revert("no device");
    }

    /// @dev What a device reports of the last exam.
    function _reportOf(uint256 device, uint8 class, bool lie) internal view returns (ExamReport memory r) {
        r.key = _publicKey(_keys[device]);
        r.firmware = FIRMWARE;
        r.traceRoot = tensorRoot(lie);
        r.gridBlock = uint64(_examBlock);
        r.seq = _seqs[device] + 1;
        r.class = class;
        r.debugStatus = 1;
    }

    /// @dev An actor reports a trace for the last exam. @return The number of the result.
    function _sit(address worker, uint8 class, bool lie) internal returns (uint256) {
        uint256 device = _deviceOf(worker);
        ExamReport memory r = _reportOf(device, class, lie);
        Signature memory signature = _sign(_keys[device], exams.examDigest(worker, r));
        _prankAs(worker);
        exams.sit(r, signature);
        _seqs[device] = r.seq;
        _satLast[_idOf(device)][class] = keccak256(abi.encode(worker, _examBlock));
        (uint32 number, ) = exams.lastExam();
        _isLie[_results.length] = lie;
        _results.push(
            ExamResult(
                worker,
                _idOf(device),
                class,
                number,
                uint64(_now),
                registry.nonceOf(worker, _idOf(device), ReportKind.Exam, r.gridBlock),
                r.traceRoot
            )
        );
        return _results.length - 1;
    }

    /// @dev Somebody puts a result on chain. @return The number of the claim.
    function _challenge(address by, uint256 result) internal returns (uint256) {
        ExamResult memory s = _results[result];
        // A precompile's call would take the prank.
        ProgramFacts memory facts = program();
        vm.recordLogs();
        _prankAs(by);
        examClaims.challenge(s, facts);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            if (logs[i].topics[0] != IMarketEvents.JobPosted.selector) continue;
            (Job memory job, , ) = abi.decode(logs[i].data, (Job, ProgramFacts, bytes32[]));
            _resultOf[_claims.length] = result;
            _claims.push(Claim(job, s.worker, s.traceRoot, uint128(COLLATERAL)));
        }
        return _claims.length - 1;
    }

    function _claimKey(uint256 c) internal view returns (ClaimKey memory) {
        Claim memory claim = _claims[c];
        return ClaimKey(claims.jobIdOf(claim.job), claim.worker, claim.root, claim.collateral);
    }

    function _idOfClaim(uint256 c) internal view returns (ClaimId) {
        ClaimKey memory key = _claimKey(c);
        return JobIds.claimId(key.jobId, key.worker, key.root, key.collateral);
    }

    function _statusOf(uint256 c) internal view returns (ClaimStatus status, uint256 time) {
        (status, time, ) = claims.statusOf(_idOfClaim(c));
    }

    function _pledgeOf(address worker) internal view returns (PledgeStatus status) {
        (status, , , ) = claims.pledgeOf(worker);
    }

    function _isOpen(uint256 g) internal view returns (bool) {
        return uint256(game.stateHash(_games[g])) > 1;
    }

    function _bondOf(uint256 g) internal view returns (uint256) {
        return this.unpack(_states[_games[g]]).bond;
    }

    function _creditOf(address account) internal view returns (uint256 credit) {
        (credit, , , , ) = vault.accountOf(account);
    }

    function _holdings(address account) internal view returns (uint256) {
        (uint256 credit, uint256 staked, , uint256 withdrawing, ) = vault.accountOf(account);
        return credit + staked + withdrawing;
    }

    function _stateOf(uint256 g) internal view returns (GameState memory) {
        return this.unpack(_states[_games[g]]);
    }

    function _programRoot() private pure returns (bytes32) {
        ProgramFacts memory facts = program();
        return sha256(abi.encodePacked(bytes1(0), facts.header, facts.stepsRoot, facts.checkpointsRoot));
    }
}
