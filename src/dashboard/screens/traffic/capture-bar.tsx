// The state of the traffic capture of an endpoint, with its controls.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { type CaptureStateFragment, ClearTrafficCapture, StopTrafficCapture } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { Bytes, Count } from '../../ui/text/numbers.tsx';
import { RelativeTime } from '../../ui/text/relative-time.tsx';
import { CaptureSettings, sizeOf } from './capture-settings.tsx';

export interface CaptureBarProps {
  endpointId: string;
  capture: CaptureStateFragment;
  /** Called after a change. */
  onChange: () => void;
}

export function CaptureBar({ endpointId, capture, onChange }: CaptureBarProps) {
  const [open, setOpen] = useState<'settings' | 'off' | 'clear'>();
  const stop = useMutation(StopTrafficCapture);
  const { isOn, kept } = capture;

  async function switchOff() {
    if (await stop.mutate({ endpointId })) close();
  }
  function close() {
    setOpen(undefined);
    onChange();
  }
  return (
    <section class="capture-bar" aria-label="Capture">
      <CaptureSummary capture={capture} />
      <div class="actions">
        <Button variant={isOn ? 'normal' : 'primary'} onClick={() => setOpen('settings')}>
          {isOn ? 'Settings' : 'Switch capture on'}
        </Button>
        {isOn && <Button onClick={() => setOpen('off')}>Switch off</Button>}
        {kept > 0 && <Button onClick={() => setOpen('clear')}>Clear</Button>}
      </div>
      {open === 'settings' && <CaptureSettings endpointId={endpointId} capture={capture} onClose={close} />}
      {open === 'off' && (
        <ConfirmDialog
          title="Switch capture off?"
          confirmLabel="Switch it off"
          error={stop.error}
          isBusy={stop.isBusy}
          onConfirm={() => void switchOff()}
          onClose={close}
        >
          <p>
            What was captured stays until it is cleared or the gateway is restarted. Switching capture on again begins
            anew: what is kept is thrown away then.
          </p>
        </ConfirmDialog>
      )}
      {open === 'clear' && <ClearDialog endpointId={endpointId} kept={kept} onClose={close} />}
    </section>
  );
}

const TITLES = {
  OFF: 'Capture is off',
  WAITING: 'Capture waits until the address is online',
  RECORDING: 'Capture is on',
} as const;

/** How much later than a capture a node begins to record that was there when it was started; milliseconds. */
const BEGIN_MS = 5000;

/** Whether a node of the gateway was started after the capture, which has lost what it had recorded before, if anything. */
function mayMiss({ startedAt, recordedSince }: CaptureStateFragment): boolean {
  if (startedAt === null || recordedSince === null) return false;
  return Date.parse(recordedSince) - Date.parse(startedAt) > BEGIN_MS;
}

function CaptureSummary({ capture }: { capture: CaptureStateFragment }) {
  const { isOn, state, bodyBytes, kept, keptBytes, passed, forgotten, endsAt, recordedSince } = capture;
  return (
    <div>
      <p>
        <strong>{TITLES[state]}</strong>
        {isOn && (
          <>
            {' · ends '}
            <RelativeTime at={endsAt} />
            {bodyBytes > 0 ? ` · of each body, ${sizeOf(bodyBytes)} are kept` : ' · bodies aren’t kept'}
          </>
        )}
      </p>
      {(isOn || kept > 0) && (
        <p class="muted">
          <Count value={passed} /> passed · <Count value={kept} /> kept (<Bytes value={keptBytes} />)
          {forgotten > 0 && (
            <>
              {' · '}
              <Count value={forgotten} /> pushed out by newer ones
            </>
          )}
        </p>
      )}
      {mayMiss(capture) && (
        <p class="muted">
          The gateway was started again <RelativeTime at={recordedSince} />: what it had captured before is gone.
        </p>
      )}
    </div>
  );
}

interface ClearDialogProps {
  endpointId: string;
  kept: number;
  onClose: () => void;
}

function ClearDialog({ endpointId, kept, onClose }: ClearDialogProps) {
  const clear = useMutation(ClearTrafficCapture);
  async function confirmed() {
    if (!(await clear.mutate({ endpointId }))) return;
    toast('Cleared what was captured.');
    onClose();
  }
  return (
    <ConfirmDialog
      title="Clear what was captured?"
      confirmLabel="Clear"
      error={clear.error}
      isBusy={clear.isBusy}
      onConfirm={() => void confirmed()}
      onClose={onClose}
    >
      <p>The {kept} requests that are kept are thrown away for everybody. Whether capture is on stays as it is.</p>
    </ConfirmDialog>
  );
}
