// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {Payouts} from "../../../contracts/game/Payouts.sol";

/// @notice Bonds and the collateral of a dead claim: nothing is paid that was not put in.
contract PayoutProofs {
    /// @dev Never used; see LedgerProofs.
    mapping(uint256 => uint256) private _unused;

    /// @dev The settlement of a game of a dead claim. `left` is what is left of the claim's pot, `open` what the games
    /// that are not settled are due. The game is due `amount`, and asks for `asked` of it.
    struct Settlement {
        uint128 left;
        uint112 open;
        uint112 amount;
        uint112 asked;
        uint128 pot;
        uint112 dues;
    }

    /// @dev The only game of a claim that dies by it.
    struct OneGame {
        uint128 collateral;
        uint128 bounty;
        uint96 bond;
        uint96 left;
        uint96 spent;
    }

    /// @dev A worker's move: what it earns is what leaves the bond. By induction all that was drawn and what is left
    /// make the bond.
    function draw(uint96 bond, uint96 left, uint112 earned, uint256 price) external pure {
        require(left <= bond && earned == bond - left);
        (uint256 paid, uint256 newLeft) = Payouts.draw(left, price);
        assert(newLeft <= left);
        assert(earned + paid == bond - newLeft);
        assert(paid <= price);
    }

    /// @dev What a game is due fits, and with the rest of the bond is the bond and the challenger's own moves.
    function due(uint96 bond, uint96 left, uint96 spent) external pure {
        require(left <= bond);
        uint256 amount = Payouts.due(bond, left, spent);
        assert(amount + left == uint256(bond) + spent);
        assert(amount < 2 ** 97);
    }

    /// @dev A collateral is divided without rest.
    function divide(uint128 collateral, uint128 bounty, uint112 dues) external pure {
        (uint256 toWinner, uint256 pot, uint256 toSink) = Payouts.divide(collateral, bounty, dues);
        assert(toWinner + pot == collateral);
        assert(toWinner <= bounty && toSink <= pot);
        // What stays for the games is what they are due, or all there is.
        assert(pot - toSink == (pot < dues ? pot : dues));
    }

    /// @dev Settlements never make a pot short: they get what moves leave of it, and no more than was wanted.
    function affordable(
        uint128 collateral,
        uint128 bounty,
        uint112 moves,
        uint48 settlements,
        uint64 wanted
    ) external pure {
        uint256 unit = Payouts.affordable(collateral, bounty, moves, settlements, wanted);
        (, uint256 pot, ) = Payouts.divide(collateral, bounty, moves);
        assert(unit <= wanted);
        assert(pot > moves ? moves + settlements * unit <= pot : unit == 0);
    }

    /// @dev A share is at most the due, and at most the pot.
    function share_isAtMostTheDue(uint112 amount, uint128 pot, uint112 dues) external pure {
        require(amount <= dues);
        uint256 paid = Payouts.share(amount, pot, dues);
        assert(paid <= amount);
        assert(paid <= pot);
    }

    /// @dev Nothing is cut while the pot covers the dues.
    function share_ofAFullPot_isTheDue(uint112 amount, uint128 pot, uint112 dues) external pure {
        require(pot >= dues);
        assert(Payouts.share(amount, pot, dues) == amount);
    }

    /// @dev The inductive step over the games of a dead claim: `paid` so far for dues of `settled`, bound by the line
    /// through the pot. One game more keeps that bound,
    function share_keepsTheBound(
        uint256 paid,
        uint112 settled,
        uint112 amount,
        uint128 pot,
        uint112 dues
    ) external pure {
        require(dues != 0 && pot < dues && uint256(settled) + amount <= dues && paid <= pot);
        require(paid * dues <= uint256(settled) * pot);
        uint256 one = Payouts.share(amount, pot, dues);
        assert(one * dues <= uint256(amount) * pot);
        assert((paid + one) * dues <= (uint256(settled) + amount) * pot);
    }

    /// @dev and so all of them together never take more than the pot.
    function share_boundIsThePot(uint256 paid, uint112 settled, uint128 pot, uint112 dues) external pure {
        require(dues != 0 && settled <= dues && paid < 2 ** 128);
        require(paid * dues <= uint256(settled) * pot);
        assert(paid <= pot);
    }

    /// @dev The claim's word holds what is left of the pot. It covers the games that are left by the same line: a
    /// settlement that is paid at no more than was set aside for it (`asked` of `amount`) never takes what is not
    /// there,
    function settle_findsItsShare(Settlement memory s) external pure {
        require(
            s.dues != 0 &&
                s.pot < s.dues &&
                s.open <= s.dues &&
                s.amount <= s.open &&
                s.asked <= s.amount &&
                s.left <= s.pot
        );
        require(s.left * uint256(s.dues) >= uint256(s.open) * s.pot);
        uint256 share = Payouts.share(s.asked, s.pot, s.dues);
        assert(share * s.dues <= uint256(s.asked) * s.pot);
        assert(share <= s.left);
    }

    /// @dev and leaves what covers the others.
    function settle_keepsTheOthersCovered(Settlement memory s) external pure {
        require(s.dues != 0 && s.pot < s.dues && s.open <= s.dues && s.amount <= s.open && s.asked <= s.amount);
        require(s.left * uint256(s.dues) >= uint256(s.open) * s.pot);
        uint256 share = Payouts.share(s.asked, s.pot, s.dues);
        require(share * s.dues <= uint256(s.amount) * s.pot && share <= s.left);
        assert((s.left - share) * s.dues >= (uint256(s.open) - s.amount) * s.pot);
    }

    /// @dev While nothing is cut, what is left covers the games that are left to the last unit, and what was not asked
    /// is over.
    function settle_ofAFullPot(Settlement memory s) external pure {
        require(s.pot >= s.dues && s.open <= s.dues && s.amount <= s.open && s.asked <= s.amount && s.left >= s.open);
        uint256 share = Payouts.share(s.asked, s.pot, s.dues);
        assert(share <= s.left);
        assert(s.left - share >= uint256(s.open) - s.amount);
        assert(s.left - share == uint256(s.left) - s.asked);
    }

    /// @dev Two games as a whole, without the induction.
    function share_ofTwo(uint112 first, uint112 second, uint128 pot, uint112 dues) external pure {
        require(uint256(first) + second <= dues);
        assert(Payouts.share(first, pot, dues) + Payouts.share(second, pot, dues) <= pot);
    }

    /// @dev All that a dead claim with one game pays, to the winner, the sink and the worker, is the collateral and the
    /// bond.
    function death_ofTheOnlyGame(OneGame memory g) external pure {
        require(g.left <= g.bond);
        uint256 amount = Payouts.due(g.bond, g.left, g.spent);
        (uint256 toWinner, uint256 pot, uint256 toSink) = Payouts.divide(g.collateral, g.bounty, amount);
        uint256 toChallenger = g.left + toWinner + Payouts.share(amount, pot, amount);
        uint256 toWorker = g.bond - g.left;
        // Less than what was put in only by the part of a wei that a share is rounded down by.
        assert(toChallenger + toSink + toWorker <= uint256(g.collateral) + g.bond);
    }

    /// @dev A worker that plays both sides alone never takes out what it put in, unless nothing was left to burn; the
    /// collateral covers one game (ParameterChecks), and then the burn is what exceeds the dues and the bounty.
    function league_losesTheBurn(OneGame memory g) external pure {
        require(g.left <= g.bond && g.bounty <= g.collateral);
        uint256 amount = Payouts.due(g.bond, g.left, g.spent);
        require(uint256(g.bounty) + amount <= g.collateral);
        (uint256 toWinner, uint256 pot, uint256 toSink) = Payouts.divide(g.collateral, g.bounty, amount);
        uint256 out = g.left + toWinner + Payouts.share(amount, pot, amount) + (g.bond - g.left);
        assert(toSink == uint256(g.collateral) - g.bounty - amount);
        assert(out + toSink == uint256(g.collateral) + g.bond);
    }

    /// @dev A lost game's bond is divided without rest, the reward within it.
    function forfeit(uint96 left, uint256 reward) external pure {
        (uint256 toCaller, uint256 toWorker) = Payouts.forfeit(left, reward);
        assert(toCaller + toWorker == left);
        assert(toCaller <= reward);
    }

    /// @dev A missed deadline costs at most the collateral, and with the rest unlocked all of it is accounted for.
    function penalty(uint128 collateral, uint16 bps, uint128 reward) external pure {
        require(bps <= 10_000);
        uint256 lost = Payouts.penalty(collateral, bps);
        assert(lost <= collateral);
        require(reward <= lost);
        assert(reward + (lost - reward) + (collateral - lost) == collateral);
    }
}
