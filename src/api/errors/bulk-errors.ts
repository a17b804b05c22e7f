// The errors of what is done to whole lists: exports, and jobs over many objects.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const bulkErrors = {
  unknownList: invalid(90640, '{member} must be the name of a list, as in `listKinds`: {known}.'),
  bulkNotOffered: invalid(90641, 'The list {list} has no bulk action {action}; it has: {offered}.'),
  bulkObjectsMissing: invalid(
    90642,
    'Say which objects: by ids, or by filter or search. The filter "true" stands for all.',
  ),
  bulkObjectsTwice: invalid(90643, 'Give either {member}, or filter and search.'),
  tooManyBulkObjects: invalid(
    90644,
    'More than {max} objects are selected, which is the most of one job. Select fewer.',
  ),
  bulkCountDiffers: conflict(
    90645,
    'These are {count} objects now, and expectedCount is {expected}. Nothing was changed: look at them again.',
  ),
  bulkOwnerMissing: invalid(90646, '{member} is required by CHANGE_OWNER.'),
  bulkLabelsMissing: invalid(90647, 'CHANGE_LABELS needs a label in setLabels or a key in removeLabels.'),
  bulkMemberUnused: invalid(90648, '{member} has no meaning for {action}.'),
  labelSetAndRemoved: invalid(90649, 'The label {key} is both in setLabels and in removeLabels.'),
  tooManyBulkJobs: [
    90650,
    429,
    'RATE_LIMITED',
    '{max} jobs of this account are not finished yet; wait for one, or cancel one.',
  ],
  bulkJobOver: conflict(90651, 'This job has ended already.'),
  bulkJobNotUndoable: conflict(90652, 'This job cannot be undone: {reason}.'),
  bulkActorGone: [
    90653,
    403,
    'FORBIDDEN',
    'Who started the job is gone or not active any more, or the API key that it was started with is gone.',
  ],
  badExportFormat: invalid(90654, '{member} must be csv or jsonl.'),
  unknownExportColumn: invalid(90655, '{member}: there is no column {column}; there are: {known}.'),
  tooManyExports: [
    90656,
    429,
    'RATE_LIMITED',
    '{max} downloads of lists of this account are under way; try again in {seconds} s, or when one has ended.',
  ],
} as const satisfies Record<string, ErrorRow>;
