// The viewer's own second factor: an app that shows codes, and recovery codes for the day on which it is lost.

import { useState } from 'preact/hooks';
import { useQuery } from '../../data/hooks/use-query.ts';
import { SecondFactor } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
import { Skeleton } from '../../ui/feedback/skeleton.tsx';
import { OneTimeSecret } from '../../ui/layout/one-time-secret.tsx';
import { Section } from '../../ui/layout/page.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';
import { SecondFactorEnd } from './second-factor-end.tsx';
import { SecondFactorSetup } from './second-factor-setup.tsx';

export function OwnSecondFactor() {
  const { data, error, refetch } = useQuery(SecondFactor, {}, { kinds: ['user'] });
  const [step, setStep] = useState<'replace codes' | 'turn off' | 'set up'>();
  const [recoveryCodes, setRecoveryCodes] = useState<string[]>();
  const isOn = data?.viewer?.hasSecondFactor;

  function done(codes?: string[]) {
    setRecoveryCodes(codes);
    setStep(undefined);
    void refetch();
  }

  return (
    <Section
      title="Second factor"
      lead="An app on your phone shows a code, without which your password and sign-in links let nobody in."
      actions={
        data &&
        !step &&
        !recoveryCodes &&
        (isOn ? (
          <>
            <Button onClick={() => setStep('replace codes')}>Other recovery codes…</Button>
            <Button onClick={() => setStep('turn off')}>Turn it off…</Button>
          </>
        ) : (
          <Button onClick={() => setStep('set up')}>Set up an app…</Button>
        ))
      }
    >
      <ErrorNote error={error} retry={refetch} />
      {!data && !error && <Skeleton />}
      {recoveryCodes && (
        <OneTimeSecret
          name="list of recovery codes"
          secret={recoveryCodes.join('\n')}
          advice="Each code signs you in once without the app. Keep them where you do not keep the phone."
          onDismiss={() => setRecoveryCodes(undefined)}
        />
      )}
      {data && !step && !recoveryCodes && (
        <p>{isOn ? `It is on. Recovery codes left: ${data.viewer?.recoveryCodesLeft}.` : 'It is off.'}</p>
      )}
      {step === 'replace codes' && <RecoveryCodes onDone={done} onCancel={() => setStep(undefined)} />}
      {step === 'turn off' && <SecondFactorEnd onDone={() => done()} onCancel={() => setStep(undefined)} />}
      {step === 'set up' && <SecondFactorSetup onDone={done} onCancel={() => setStep(undefined)} />}
    </Section>
  );
}
