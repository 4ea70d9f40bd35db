"""The numerical modules, each with the tests that are to notice a change in it."""

RESPONSE, AR1 = "adapt/action_residual/test_response.py", "adapt/common/test_ar1_disturbance.py"

TARGETS: dict[str, tuple[str, ...]] = {
    "core.statistics": ("core/test_statistics.py",),
    "core.ridge": ("core/test_ridge.py",),
    "core.loss": ("core/test_loss.py",),
    "core.past_actions": ("core/test_past_actions.py",),
    "core.metric": ("core/test_metric.py",),
    "adapt.common.action_residuals": ("adapt/common/test_action_residuals.py",),
    "adapt.common.ar1_disturbance": (AR1,),
    "adapt.common.ar1_filter": ("adapt/common/test_ar1_filter.py",),
    "adapt.common.ar1_fit": (AR1,),
    "adapt.common.censoring": ("adapt/common/test_censoring.py",),
    "adapt.common.cost_to_go": ("adapt/common/test_effective_action.py",),
    "adapt.common.effective_action": ("adapt/common/test_effective_action.py",),
    "adapt.common.gauss_newton": ("adapt/common/test_gauss_newton.py",),
    "adapt.common.outliers": ("adapt/common/test_outliers.py",),
    "adapt.common.ragged_batch": ("adapt/common/test_ragged_batch.py",),
    "adapt.common.response": (RESPONSE,),
    "adapt.common.ridge": ("adapt/common/test_ridge.py", RESPONSE),
    "adapt.common.truncated_normal": ("adapt/common/test_truncated_normal.py",),
    "adapt.action_residual.disturbance_observer": ("adapt/action_residual/test_disturbance_observer.py",),
    "adapt.action_residual.method": ("adapt/action_residual/test_method.py",),
    "adapt.action_residual.response_fit": (RESPONSE,),
    "adapt.auto.selection": ("adapt/auto/test_selection.py",),
    "adapt.mpc.gaussian_dynamics": ("adapt/mpc/test_gaussian_dynamics.py",),
    "sysid.delay": ("sysid/test_delay.py",),
    "sysid.fit": ("sysid/test_fit.py",),
    "sysid.residual": ("sysid/test_residual.py",),
    "sysid.residualise": ("sysid/test_residualise.py",),
    "sysid.sensor_noise": ("sysid/test_sensor_noise.py",),
}
