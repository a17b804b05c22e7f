// The search of a list: words in any order, each of which is somewhere in the texts of an object.

import { ApiError } from '../errors/errors.ts';
import { isStorable } from '../text-limits.ts';
import { columnIs, type FilterMember, type ListMembers } from './members.ts';

export const SEARCH_TEXT_MAX = 200;
export const SEARCH_WORDS_MAX = 10;

/**
 * Splits what is searched into its words.
 * @throws {ApiError} unless there are 1 to 10 in at most 200 characters.
 */
export function searchWords(text: string, member: string): string[] {
  const words = [...new Set(text.split(/\s+/).filter((word) => word !== ''))];
  if (words.length === 0 || text.length > SEARCH_TEXT_MAX || !isStorable(text))
    throw new ApiError('searchTextLength', { member, max: SEARCH_TEXT_MAX });
  if (words.length > SEARCH_WORDS_MAX) throw new ApiError('tooManySearchWords', { member, max: SEARCH_WORDS_MAX });
  return words;
}

/** The part of a query that leaves what has all words. @throws {ApiError} likewise. */
export function searchCondition(text: string, members: ListMembers): object {
  const searched = Object.values(members);
  return {
    AND: searchWords(text, 'search').map((word) => ({
      OR: searched.flatMap((member) => spellings(word).flatMap((spelling) => hasWord(member, spelling))),
    })),
  };
}

function hasWord(member: FilterMember, word: string): object[] {
  const { type, column } = member;
  const contains = { contains: likePattern(word), mode: 'insensitive' };
  switch (type) {
    case 'id':
      return /^\w{4,}$/.test(word) ? [columnIs(member, { contains: likePattern(word) })] : [];
    case 'text':
      if (member.path) return [{ [column]: { path: member.path, string_contains: likePattern(word) } }];
      return [columnIs(member, contains)];
    case 'texts':
      return [{ [column]: { has: word } }];
    case 'relatedTexts':
      return [{ [column]: { some: { [member.of]: contains } } }];
    default:
      return [];
  }
}

/** Not every database's locale knows the cases of all letters, so they are spelt out. */
function spellings(word: string): string[] {
  return /^[\0-\x7f]*$/.test(word) ? [word] : [...new Set([word, word.toLowerCase(), word.toUpperCase()])];
}

/** A text as a pattern of LIKE, which stands for itself: Prisma passes patterns on as they are. */
export function likePattern(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}
