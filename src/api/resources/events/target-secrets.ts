// Secrets of event targets that a change leaves out.

import type { Target } from '../../../events/target.ts';
import { mapSecrets, openTarget, storedTarget, type TargetRow } from '../../../store/events/target.ts';
import type { Keys } from '../../../store/keys/keys.ts';
import { ApiError } from '../../errors.ts';

/**
 * Gives a target the secret that its input left out: the one of the row it replaces, as long as that would be sent to
 * the same place. Otherwise whoever may change a destination could have its secret delivered elsewhere.
 * @throws {ApiError} naming the secret, when there is none to keep.
 */
export function completeTarget(target: Target, keys: Keys, replaced?: TargetRow): Target {
  return mapSecrets(target, (secret, path) => {
    if (secret !== null) return secret;
    const member = `target.${path}`;
    if (!replaced) throw new ApiError(target.datadog ? 'datadogKeyMissing' : 'targetMemberMissing', { member });
    if (addressOf(storedTarget(replaced)) !== addressOf(target)) throw new ApiError('secretNeeded', { member });
    return secretOf(openTarget(keys, replaced));
  });
}

/** All that decides who gets to see the secret of a target. */
function addressOf(target: Target): string {
  const { firehose, kinesis, cloudwatchLogs, datadog, azureLogsIngestion: azure, webhook } = target;
  return JSON.stringify([
    Object.keys(target),
    firehose?.deliveryStreamArn ?? kinesis?.streamArn ?? cloudwatchLogs?.logGroupArn,
    (firehose ?? kinesis ?? cloudwatchLogs)?.auth.creds?.awsAccessKeyId,
    datadog?.ddsite,
    azure && [azure.logsIngestionUri, azure.tenantId, azure.clientId],
    webhook?.url,
  ]);
}

/** A target has one secret at most. */
function secretOf({ firehose, kinesis, cloudwatchLogs, datadog, azureLogsIngestion, webhook }: Target): string | null {
  const creds = (firehose ?? kinesis ?? cloudwatchLogs)?.auth.creds;
  return (
    creds?.awsSecretAccessKey ?? datadog?.apiKey ?? azureLogsIngestion?.clientSecret ?? webhook?.signingSecret ?? null
  );
}
