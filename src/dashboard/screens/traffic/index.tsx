import { Route, Router } from 'preact-iso/router';
import { NotFound } from '../../shell/not-found.tsx';
import { EndpointPicker } from './endpoint-picker.tsx';
import { RequestPage } from './request-detail.tsx';
import { TrafficPage } from './request-list.tsx';
import './traffic.css';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={EndpointPicker} />
      <Route path="/:endpointId" component={TrafficPage} />
      <Route path="/:endpointId/:requestId" component={RequestPage} />
      <Route default component={NotFound} />
    </Router>
  );
}
