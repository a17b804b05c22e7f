// The state of the traffic capture of an endpoint, with its controls.

import { useState } from 'preact/hooks';
import { useMutation } from '../../data/hooks/use-mutation.ts';
import { type CaptureStateFragment, ClearTrafficCapture, StopTrafficCapture } from '../../generated/operations.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialogs/confirm-dialog.tsx';
import { ErrorNote } from '../../ui/feedback/error-note.tsx';
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
  const [open, setOpen] = useState<'settings' | 'clear'>();
  const stop = useMutation(StopTrafficCapture);
  const { isOn, kept } = capture;

  async function switchOff() {
    if (await stop.mutate({ endpointId })) onChange();
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
        {isOn && (
          <Button isBusy={stop.isBusy} onClick={() => void switchOff()}>
            Switch off
          </Button>
        )}
        {kept > 0 && <Button onClick={() => setOpen('clear')}>Clear</Button>}
      </div>
      <ErrorNote error={stop.error} />
      {open === 'settings' && <CaptureSettings endpointId={endpointId} capture={capture} onClose={close} />}
      {open === 'clear' && <ClearDialog endpointId={endpointId} kept={kept} onClose={close} />}
    </section>
  );
}

function CaptureSummary({ capture }: { capture: CaptureStateFragment }) {
  const { isOn, bodyBytes, kept, keptBytes, passed, forgotten, endsAt } = capture;
  return (
    <div>
      <p>
        <strong>{isOn ? 'Capture is on' : 'Capture is off'}</strong>
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
