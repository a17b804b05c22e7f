// Errors of lists: which page of them, in which order, and what of them. Rows of the error table.

import { type ErrorRow, invalid } from './error-row.ts';

export const listErrors = {
  limitNotANumber: invalid(244, '{member} must be a whole number from 1 to {max}.'),
  limitOutOfRange: invalid(233, '{member} must be from {min} to {max}.'),
  wrongCursor: invalid(
    227,
    '{member} must be a cursor of this list as it was given, or an id from it, which begins with "{prefix}_".',
  ),
  badListFilter: invalid(250, '{member}, character {position}: {reason}.'),
  badListOrder: invalid(
    90480,
    '{member} must be a member and a direction, as in "id desc"; this list can be ordered by {known}.',
  ),
  cursorGone: invalid(
    90481,
    '{member}: there is no such object any more, so that its place in this order is not known; send the cursor that its page gave, which needs no object, or begin with the first page.',
  ),
  cursorOfOtherOrder: invalid(
    90483,
    '{member} is a cursor of another order; send one of a page in this order, or an id, or begin with the first page.',
  ),
  tooManySearchWords: invalid(90482, '{member} may have at most {max} words.'),
  bothDirections: invalid(90008, 'Page forwards (first, after) or backwards (last, before), not both.'),
  searchTextLength: invalid(90251, '{member} must be 1 to {max} characters; spaces at its ends do not count.'),
} satisfies Record<string, ErrorRow>;
