import { Route, Router } from 'preact-iso/router';
import { ChooseEndpoint } from './choose.tsx';
import { RequestPage } from './request.tsx';
import { TrafficPage } from './requests.tsx';
import './traffic.css';

export default function Screen() {
  return (
    <Router>
      <Route path="/" component={ChooseEndpoint} />
      <Route path="/:endpointId" component={TrafficPage} />
      <Route path="/:endpointId/:requestId" component={RequestPage} />
    </Router>
  );
}
