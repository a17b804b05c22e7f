// Errors of alert rules, channels and silences: rows of the error table.

import { conflict, type ErrorRow, invalid } from './error-row.ts';

export const alertErrors = {
  alertNameWrong: invalid(90440, '{member} must be 1 to {max} characters, none of them a control character.'),
  alertThresholdMissing: invalid(90441, '{member} is required for {condition}: {range}.'),
  alertThresholdRange: invalid(90442, '{member} must be {range} for {condition}.'),
  alertThresholdRefused: invalid(90443, '{member} must be left out: {condition} compares nothing with it.'),
  alertNumberRange: invalid(90444, '{member} must be a whole number from {min} to {max}.'),
  alertSelectorRefused: invalid(90445, '{member} must be left out for {condition}, which has {known}.'),
  alertPatternWrong: invalid(
    90446,
    '{member} must be at most {max} bytes without spaces, as device-*.example.com or tcp://*:20001: "*" is any text.',
  ),
  alertLabelWrong: invalid(
    90491,
    '{member} must be a label of agents, site=berlin, or site for any value of it; at most {max} bytes.',
  ),
  unknownAlertSubject: invalid(90447, '{member} must name {kind} of this account.'),
  alertListTooLong: invalid(90448, '{member} may have at most {max} entries.'),
  tooManyAlertObjects: conflict(90449, 'An account may have at most {max} {kind}.'),
  alertChannelRepeated: invalid(90450, '{member} occurs twice in the list.'),
  alertChannelInUse: conflict(90451, 'The alert channel is still used by an alert rule; remove it there first.'),
  alertChannelMember: invalid(90452, '{member} must be left out: the channel is of the kind {kind}.'),
  alertRecipientsWrong: invalid(90453, '{member} must be 1 to {max} e-mail addresses, each once.'),
  alertResolved: conflict(90454, 'The alert is resolved; there is nothing to acknowledge.'),
  alertSilenceEmpty: invalid(90455, '{member} or a selector is required: say what to silence.'),
  tooManyChannelTests: [
    90456,
    429,
    'RATE_LIMITED',
    'An account may test its alert channels {limit} times a minute; try again in {seconds} s.',
  ],
} satisfies Record<string, ErrorRow>;
